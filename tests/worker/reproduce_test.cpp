#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../contract/sentence.h"
#include "worker_process.h"

using namespace mambarium;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json tiny_figure() {
  return {{"id", "tiny"},
          {"names", {"fig0"}},
          {"title", "Tiny runs"},
          {"paper", "Figure 0"},
          {"about", "Two orders."},
          {"group", "letters"},
          {"article", "On Letters"},
          {"sweeps", json::array({{{"name", "orders"},
                                   {"base",
                                    {{"task", {{"length", 16}}},
                                     {"model", {{"d_model", 4}, {"d_state", 4}}},
                                     {"training", {{"steps", 20}, {"batch", 8}, {"eval_every", 10}}}}},
                                   {"grid", {{"task.order", {1, 2}}}},
                                   {"seeds", {0, 1}}}})},
          {"paper_budget", {{"seeds", {0, 1, 2}}}},
          {"pictures", json::array()},
          {"claims", json::array({{{"claim", "An untrained model is worse than the oracle"},
                                   {"paper", "of course"},
                                   {"measure", "gap_oracle"},
                                   {"above", 0.01},
                                   {"cells", json::array({{{"name", "k = 1"}, {"of", {{"task.order", "1"}}}}})}}})}};
}

}  // namespace

class ReproduceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { write("figures", tiny_figure()); }

  void listNamesWhatThereIs() {
    const Finished shipped = run_worker({"reproduce", "list"});
    QVERIFY2(shipped.code == 0, shipped.err.constData());
    QVERIFY(shipped.out.contains("\nmarkov  window ") && shipped.out.contains("fig3b"));
    QVERIFY(shipped.out.contains("\nmotif   motif-rank "));
    const Finished own = run_worker({"reproduce", "list", "--from", path("figures"), "--budget", "paper"});
    QVERIFY2(own.code == 0, own.err.constData());
    QVERIFY(own.out.contains("tiny") && own.out.contains("6 runs,  1 claims"));
    QVERIFY2(!own.out.contains("together"), "of one figure there is nothing to add up");
  }

  void listCountsARunThatFiguresShareOnce() {
    json twice = tiny_figure(), other = tiny_figure();
    twice["sweeps"].push_back(twice["sweeps"][0]);
    twice["sweeps"][1]["name"] = "again";
    other["id"] = "other";
    other["names"] = {"fig1"};
    other["sweeps"][0]["grid"]["task.order"] = {2, 3};
    other["claims"][0]["cells"][0]["of"]["task.order"] = "2";
    write("shared", twice);
    write("shared", other, "other.json");
    const Finished all = run_worker({"reproduce", "list", "--from", path("shared")});
    QVERIFY2(all.code == 0, all.err.constData());
    const QList<QByteArray> lines = all.out.trimmed().split('\n');
    QCOMPARE(lines.size(), 3);
    for (const QByteArray& line : {lines[0], lines[1]}) QVERIFY2(line.contains("   4 runs, "), line.constData());
    QVERIFY2(lines[2].contains("together") && lines[2].contains("   6 runs,  2 claims"), lines[2].constData());
    const Finished one = run_worker({"reproduce", "list", "fig1", "--from", path("shared")});
    QVERIFY2(one.code == 0, one.err.constData());
    QVERIFY2(one.out.contains("other") && !one.out.contains("tiny"), one.out.constData());
  }

  void aFigureIsTrainedAndDecided() {
    const QStringList command = {"reproduce", "all", "--from", path("figures"), "--out", path("out"), "--workers", "2"};
    const Finished first = run_worker(command);
    QVERIFY2(first.code == 0, first.err.constData());
    QVERIFY2(first.out.contains("1 figure, 4 runs, 0 of them done"), first.out.constData());
    QVERIFY2(first.out.contains("tiny: An untrained model is worse than the oracle: holds"), first.out.constData());
    for (const char* const file : {"report.md", "report.html", "figures/tiny/orders/results.csv"})
      QVERIFY2(fs::exists(path("out").toStdString() + "/" + file), file);
    QVERIFY(fs::is_directory(path("out").toStdString() + "/figures/tiny/orders/runs"));
    const std::string results = content(path("out").toStdString() + "/figures/tiny/orders/results.json");

    const Finished second =
        run_worker({"reproduce", "fig0", "tiny", "--from", path("figures"), "--out", path("out"), "--workers", "2"});
    QVERIFY2(second.code == 0, second.err.constData());
    QVERIFY2(second.out.contains("1 figure, 4 runs, 4 of them done"), second.out.constData());
    QCOMPARE(content(path("out").toStdString() + "/figures/tiny/orders/results.json"), results);
  }

  // The whole way of a measure of couplings: warmed up, counted, compared, decided, reported.
  void aCouplingIsWarmedUpAndCompared() {
    json figure = tiny_figure();
    figure["sweeps"] = json::array(
        {{{"name", "warm"},
          {"base",
           {{"task", {{"length", 16}}},
            {"model", {{"kind", "mamba1"}, {"d_model", 4}, {"d_state", 8}, {"coupling", "euler"}, {"motif", "021U"}}},
            {"training", {{"steps", 1}, {"batch", 1}, {"lr", 1e-9}}}}},
          {"grid", {{"model.rank", {1, 2}}}},
          {"seeds", {0, 1}}}});
    const auto cell = [](const char* rank) { return json{{"model.rank", rank}}; };
    figure["claims"] = json::array(
        {{{"claim", "Rank 1 makes no cycle"},
          {"paper", "it cannot"},
          {"measure", "cycle_hard_share"},
          {"below", 1e-6},
          {"cells", json::array({{{"name", "r = 1"}, {"of", cell("1")}}})}},
         {{"claim", "A rank costs 16 numbers"},
          {"paper", "2 n"},
          {"measure", "parameter_count"},
          {"between", {16, 16}},
          {"cells", json::array({{{"name", "r = 2, less r = 1"}, {"of", cell("2")}, {"minus", cell("1")}}})}},
         {{"claim", "The warm-up takes steps"},
          {"paper", "some"},
          {"measure", "motif_warm_up_steps"},
          {"above", 0},
          {"cells", json::array({{{"name", "r = 1"}, {"of", cell("1")}}})}}});
    write("warm", figure);
    const Finished finished =
        run_worker({"reproduce", "letters", "--from", path("warm"), "--out", path("out-warm"), "--workers", "2"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    QVERIFY2(finished.out.contains("tiny: Rank 1 makes no cycle: holds"), finished.out.constData());
    QVERIFY2(finished.out.contains("tiny: A rank costs 16 numbers: holds"), finished.out.constData());
    const std::string report = content(path("out-warm").toStdString() + "/report.md");
    QVERIFY(report.starts_with("# On Letters, reproduced"));
    QVERIFY2(report.find("| found, the same in all 2 seeds | holds |") != std::string::npos, report.c_str());
    const std::string csv = content(path("out-warm").toStdString() + "/figures/tiny/warm/results.csv");
    QVERIFY(csv.find(",motif_warm_up_steps,") != std::string::npos);
  }

  void aFailedRunIsToldAndTheRestReported() {
    json figure = tiny_figure();
    figure["sweeps"][0]["cases"] = json::array(
        {{{"label", "plain"}, {"settings", json::object()}},
         {{"label", "no file"}, {"settings", {{"task", {{"kind", "file"}, {"file", "/nowhere/at/all"}}}}}}});
    figure["sweeps"][0].erase("grid");
    figure["claims"] = json::array();
    write("broken", figure);
    const Finished finished =
        run_worker({"reproduce", "tiny", "--from", path("broken"), "--out", path("out-broken"), "--workers", "2"});
    QCOMPARE(finished.code, 1);
    QVERIFY2(finished.err.contains("/nowhere/at/all: there is no file of symbols that can be read"),
             finished.err.constData());
    QVERIFY(content(path("out-broken").toStdString() + "/report.md").find("Not complete") != std::string::npos);
  }

  void faultsAreOneSentence_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("says");
    QTest::newRow("unknown figure") << QStringList{"fig99"}
                                    << "\"fig99\" is no figure that can be reproduced; there are";
    QTest::newRow("unknown figure in the list")
        << QStringList{"list", "fig99"} << "\"fig99\" is no figure that can be reproduced; there are";
    QTest::newRow("unknown budget") << QStringList{"all", "--budget", "endless"} << "endless";
    QTest::newRow("no such folder") << QStringList{"all", "--from", "/nowhere"}
                                    << "the folder of figures cannot be read";
  }
  void faultsAreOneSentence() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, says);
    const Finished finished = run_worker(QStringList{"reproduce"} + arguments);
    QCOMPARE(finished.code, 2);
    QVERIFY2(finished.complaints().size() == 1 && finished.err.contains(says.toUtf8()), finished.err.constData());
    QVERIFY2(is_one_sentence(finished.complaints()[0]), finished.err.constData());
  }

 private:
  QString path(const char* name) { return folder_.filePath(name); }
  void write(const char* name, const json& figure, const std::string& file = "tiny.json") {
    fs::create_directories(path(name).toStdString());
    std::ofstream(path(name).toStdString() + "/" + file) << figure;
  }

  QTemporaryDir folder_;
};

QTEST_GUILESS_MAIN(ReproduceTest)
#include "reproduce_test.moc"
