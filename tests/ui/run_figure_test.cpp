// Figures straight from a run folder: the same numbers as in its files, a recipe beside each, and sentences for bad
// input.
#include "ui/figure/run_figure.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/contract/run_folder.h"
#include "plots_fake_data.h"
#include "ui/figure/figure_command.h"
#include "ui/figure/figure_recipe.h"

using namespace mambarium;

class RunFigureTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void holdsTheRunsRows();
  void aPanelThatLooksIntoTheModelTakesItsAnswerFromAFile();
  void theCommandWritesFiguresAndTheirRecipe();
  void badInputIsASentence_data();
  void badInputIsASentence();

 private:
  QString path(const char* name) const { return directory_.filePath(QLatin1String(name)); }
  void write(const QString& file, const std::string& text) const;

  QTemporaryDir directory_;
  RunSeries run_ = fake::run("full", 0, 0.001);
};

void RunFigureTest::write(const QString& file, const std::string& text) const {
  std::ofstream out(file.toStdString());
  out << text;
  QVERIFY(out.good());
}

void RunFigureTest::initTestCase() {
  QVERIFY(directory_.isValid());
  std::string metrics = metrics_header();
  metrics += '\n';
  for (const MetricsRow& row : run_.rows) metrics += to_csv_line(row) + '\n';
  write(path("metrics.csv"), metrics);
  write(path("experiment.json"), to_json(run_.config).dump());
  write(path("manifest.json"), nlohmann::json(Manifest()).dump());
  write(path("decay.json"), readable_json(nlohmann::json(fake::decay(64, 1, 1))).dump());
  write(path("broken.json"), "{\"decay\": ");
}

void RunFigureTest::holdsTheRunsRows() {
  const Figure figure = figureOfRun(directory_.path(), QStringLiteral("gap"), {});
  QCOMPARE(figure.panel_id, QStringLiteral("gap"));
  QCOMPARE(figure.data.runs.size(), std::size_t{1});
  QCOMPARE(figure.data.runs.front().rows.size(), run_.rows.size());
  for (std::size_t i = 0; i < run_.rows.size(); ++i)
    QCOMPARE(figure.data.runs.front().rows[i].gap_add_beta, run_.rows[i].gap_add_beta);
  QVERIFY(makeFigurePanel(figure) != nullptr);
}

void RunFigureTest::aPanelThatLooksIntoTheModelTakesItsAnswerFromAFile() {
  const Figure figure = figureOfRun(directory_.path(), QStringLiteral("decay"), {path("decay.json")});
  QCOMPARE(figure.data.inspected->get<DecayData>().decay, fake::decay(64, 1, 1).decay);
  QVERIFY(makeFigurePanel(figure) != nullptr);
}

void RunFigureTest::theCommandWritesFiguresAndTheirRecipe() {
  const QString pdf = path("gap.pdf"), csv = path("gap.csv");
  QCOMPARE(runFigureCommand({QStringLiteral("mambarium"), QStringLiteral("figure"), QStringLiteral("--run"),
                             directory_.path(), QStringLiteral("--panel"), QStringLiteral("gap"), QStringLiteral("-o"),
                             pdf, QStringLiteral("-o"), csv}),
           0);
  QVERIFY(QFile::exists(pdf));
  const QString again = path("again.csv");
  QCOMPARE(runFigureCommand({QStringLiteral("mambarium"), QStringLiteral("figure"), recipePathFor(pdf),
                             QStringLiteral("-o"), again}),
           0);
  QFile first(csv), second(again);
  QVERIFY(first.open(QIODevice::ReadOnly) && second.open(QIODevice::ReadOnly));
  const QByteArray numbers = first.readAll();
  QCOMPARE(numbers.count('\n'), static_cast<qsizetype>(run_.rows.size()) + 1);
  QCOMPARE(second.readAll(), numbers);
}

void RunFigureTest::badInputIsASentence_data() {
  QTest::addColumn<QString>("folder");
  QTest::addColumn<QString>("panel");
  QTest::addColumn<QString>("inspected");
  QTest::addColumn<QString>("named");
  QTest::newRow("no such run") << path("nowhere") << "gap" << QString() << "nowhere";
  QTest::newRow("no such panel") << directory_.path() << "gaps" << QString() << "gaps";
  QTest::newRow("no answer") << directory_.path() << "decay" << QString() << "decay";
  QTest::newRow("no such file") << directory_.path() << "decay" << path("missing.json") << "missing.json";
  QTest::newRow("not JSON") << directory_.path() << "decay" << path("broken.json") << "broken.json";
}

void RunFigureTest::badInputIsASentence() {
  QFETCH(QString, folder);
  QFETCH(QString, panel);
  QFETCH(QString, inspected);
  QFETCH(QString, named);
  try {
    makeFigurePanel(figureOfRun(folder, panel, inspected.isEmpty() ? QStringList() : QStringList{inspected}));
    QFAIL("nothing was said about it");
  } catch (const std::invalid_argument& problem) {
    QVERIFY2(QString::fromUtf8(problem.what()).contains(named), problem.what());
  }
}

QTEST_MAIN(RunFigureTest)
#include "run_figure_test.moc"
