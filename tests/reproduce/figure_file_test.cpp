#include "core/reproduce/figure_file.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <iterator>
#include <set>

#include "core/sweep/sweep_summary.h"

using namespace mambarium;

namespace {

const std::filesystem::path shipped = std::filesystem::path(MAMBARIUM_SOURCE_DIR) / "resources" / "reproduce";

// As if everything had been measured, as 0.
std::vector<SweepResult> zeros(const ReproducedFigure& figure) {
  std::vector<SweepResult> results;
  for (const ParsedSweep& parsed : figure.sweeps) {
    const std::vector<double> none(sweep_measures().size());
    const std::vector<PointMeasures> measures(parsed.points.size(), {none, none});
    results.push_back(sweep_result(parsed.sweep, parsed.points, measures));
  }
  return results;
}

}  // namespace

class FigureFileTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyShippedFigureIsWhole_data() {
    QTest::addColumn<int>("budget");
    QTest::newRow("quick") << static_cast<int>(Budget::quick);
    QTest::newRow("paper") << static_cast<int>(Budget::paper);
  }
  void everyShippedFigureIsWhole() {
    QFETCH(int, budget);
    const LoadedFigures loaded = load_reproduced_figures(shipped, static_cast<Budget>(budget));
    QVERIFY2(loaded.problems.empty(), to_string(loaded.problems).c_str());
    QVERIFY(loaded.figures.size() >= 8);
    for (const char* const group : {"markov", "motif"})
      QVERIFY(std::ranges::count(loaded.figures, group, &ReproducedFigure::group) >= 4);
    for (const ReproducedFigure& figure : loaded.figures) {
      const std::vector<SweepResult> results = zeros(figure);
      QVERIFY2(!figure.claims.empty() && !figure.pictures.empty(), figure.id.c_str());
      for (const Claim& claim : figure.claims) {
        const DecidedClaim decided = decide(claim, results);
        for (const DecidedCell& cell : decided.cells)
          QVERIFY2(cell.value.n >= 3, (figure.id + ": " + claim.text).c_str());
      }
      for (const Picture& picture : figure.pictures)
        QVERIFY(picture.sweep.empty() || std::ranges::count(results, picture.sweep, &SweepResult::name) == 1);
    }
  }

  void thePapersBudgetIsTheQuickOneChanged() {
    const auto quick = load_reproduced_figures(shipped, Budget::quick).figures;
    const auto paper = load_reproduced_figures(shipped, Budget::paper).figures;
    const auto window = [](const std::vector<ReproducedFigure>& figures) -> const ReproducedFigure& {
      return *std::ranges::find(figures, "window", &ReproducedFigure::id);
    };
    const auto length = [](const ReproducedFigure& figure, std::size_t sweep) {
      return figure.sweeps[sweep].points.front().config.integer("task.length");
    };
    QCOMPARE(length(window(quick), 0), std::int64_t{128});
    QCOMPARE(length(window(paper), 0), std::int64_t{512});
    QCOMPARE(length(window(paper), 1), std::int64_t{512});
    QCOMPARE(window(paper).sweeps[1].sweep.name, std::string("longer"));
    QCOMPARE(window(paper).sweeps[2].points.front().config.integer("training.steps"), std::int64_t{1});
  }

  void faultsAreNamed_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("says");
    QTest::newRow("no JSON") << QByteArray("{") << "line 1";
    QTest::newRow("a field is missing") << QByteArray(R"({"id": "x"})") << "\"title\" is missing";
    QTest::newRow("a sweep's fault")
        << QByteArray(R"({"id": "x", "title": "t", "paper": "p", "about": "a", "pictures": [], "claims": [],
                          "sweeps": [{"name": "s", "grid": {"task.ordr": [1]}}]})")
        << "grid.task.ordr";
    QTest::newRow("a claim's fault")
        << QByteArray(
               R"({"id": "x", "title": "t", "paper": "p", "about": "a", "pictures": [], "sweeps": [{"name": "s", "seeds": [0]}],
                          "claims": [{"claim": "c", "paper": "p", "measure": "luck", "below": 1, "cells": []}]})")
        << "there is no measure \"luck\"";
    const auto with = [](const char* sweeps, const char* rest) {
      return QByteArray(R"({"id": "x", "title": "t", "paper": "p", "about": "a", "sweeps": )") + sweeps + ", " + rest +
             "}";
    };
    const char* const orders = R"([{"name": "s", "grid": {"task.order": [1, 2]}}])";
    const char* const nothing = R"("pictures": [], "claims": [])";
    QTest::newRow("no sweep") << with("[]", nothing) << "\"sweeps\" is empty";
    QTest::newRow("a sweep that is none") << with("[7]", nothing) << "7 is no sweep";
    QTest::newRow("a picture's sweep")
        << with(orders, R"("claims": [], "pictures": [{"name": "p", "sweep": "other", "arguments": []}])")
        << "there is no sweep \"other\"";
    QTest::newRow("a claim's place")
        << with(orders, R"("pictures": [], "claims": [{"claim": "c", "paper": "p", "measure": "gap_oracle", "below": 1,
                           "cells": [{"name": "n", "of": {"task.order": "9"}}]}])")
        << "has no position \"9\"";
    QTest::newRow("a group without a title")
        << with(orders, R"("group": "motif", "pictures": [], "claims": [])") << "\"article\" is missing";
    QTest::newRow("names") << with(orders, R"("names": [3], "pictures": [], "claims": [])") << "names must be texts";
  }
  void faultsAreNamed() {
    QFETCH(QByteArray, content);
    QFETCH(QString, says);
    const QTemporaryDir folder;
    QFile file(folder.filePath("x.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(content);
    file.close();
    const LoadedFigures loaded = load_reproduced_figures(folder.path().toStdString(), Budget::quick);
    QCOMPARE(loaded.problems.size(), std::size_t{1});
    const QString sentence = QString::fromStdString(to_string(loaded.problems.front()));
    QVERIFY2(sentence.contains("x.json") && sentence.contains(says), qPrintable(sentence));
  }

  void aGroupHasOneTitleAndAnIdOneFigure() {
    const QTemporaryDir folder;
    const auto write = [&](const char* name, const char* id, const char* article) {
      const nlohmann::json none = nlohmann::json::array();
      const nlohmann::json document = {
          {"id", id},         {"group", "letters"}, {"article", article},
          {"title", "t"},     {"paper", "p"},       {"about", "a"},
          {"pictures", none}, {"claims", none},     {"sweeps", nlohmann::json::array({{{"name", "s"}}})}};
      QFile file(folder.filePath(name));
      if (file.open(QIODevice::WriteOnly)) file.write(QByteArray::fromStdString(document.dump()));
    };
    write("1.json", "one", "On Letters");
    write("2.json", "two", "On Letters");
    const auto load = [&] { return load_reproduced_figures(folder.path().toStdString(), Budget::quick); };
    QVERIFY(load().problems.empty());
    QCOMPARE(load().figures[1].article, std::string("On Letters"));
    write("2.json", "two", "On Numbers");
    const QString titles = QString::fromStdString(to_string(load().problems));
    QVERIFY2(titles.contains("the group \"letters\" is \"On Letters\" in another figure"), qPrintable(titles));
    write("2.json", "one", "On Letters");
    const QString ids = QString::fromStdString(to_string(load().problems));
    QVERIFY2(ids.contains("another figure has the id \"one\" already"), qPrintable(ids));
  }

  void motifsOnATaskShareTheirRunsWithDecoding() {
    for (const Budget budget : {Budget::quick, Budget::paper}) {
      const auto figures = load_reproduced_figures(shipped, budget).figures;
      const auto ids = [&](const char* figure) {
        std::set<std::string> all;
        for (const ParsedSweep& sweep : std::ranges::find(figures, figure, &ReproducedFigure::id)->sweeps)
          for (const SweepPoint& point : sweep.points) all.insert(point.id);
        return all;
      };
      const std::set<std::string> task = ids("motif-task"), decoding = ids("motif-decoding");
      std::vector<std::string> shared;
      std::ranges::set_intersection(task, decoding, std::back_inserter(shared));
      const std::size_t seeds = budget == Budget::quick ? 3 : 5;
      // 13 motifs, three profiles, Motifblank, Mamba, and three more ranks of Motif-2; of them Motif-2, Motif-12,
      // Motifblank and Mamba.
      QCOMPARE(task.size(), 21 * seeds);
      QCOMPARE(shared.size(), 4 * seeds);
    }
  }

  // The reports of two implementations count the same: 2 (16 x 2) + 1 numbers for each layer.
  void theOverheadIsAskedForAsItMustBe() {
    const auto figures = load_reproduced_figures(shipped, Budget::quick).figures;
    const auto overhead = std::ranges::find(figures, "motif-overhead", &ReproducedFigure::id);
    QVERIFY(overhead != figures.end());
    std::vector<SweepResult> results = zeros(*overhead);
    for (SweepRow& row : results[0].rows) {
      const std::int64_t layers = row.position[0] == 0 ? 24 : 48;
      row.values[results[0].measure("parameter_count")] =
          static_cast<double>(layers * (1000 + (row.position[1] == 1 ? 65 : 0)));
    }
    QCOMPARE(decide(overhead->claims[0], results).verdict, Verdict::holds);
    QCOMPARE(decide(overhead->claims[1], results).verdict, Verdict::does_not_hold);
    QCOMPARE(decide(overhead->claims[2], results).verdict, Verdict::holds);
  }

  void aFolderThatIsNotThere() {
    const LoadedFigures loaded = load_reproduced_figures("/nowhere/at/all", Budget::quick);
    QCOMPARE(QString::fromStdString(to_string(loaded.problems)).trimmed(),
             QStringLiteral("/nowhere/at/all: the folder of figures cannot be read"));
  }
};

QTEST_GUILESS_MAIN(FigureFileTest)
#include "figure_file_test.moc"
