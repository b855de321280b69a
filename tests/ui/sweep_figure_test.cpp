// mambarium figure --sweep: what it makes of a sweep's folder, and what it says when it cannot.

#include <QFileInfo>
#include <QImage>
#include <QTest>

#include "command_outcome.h"
#include "sweep_fake_data.h"
#include "ui/figure/figure_recipe.h"
#include "ui/plots/sweep_text.h"

using namespace mambarium;

namespace {

QByteArray content(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class SweepFigureTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void onlyTheSweepAndTheFileAreNeeded() {
    const QTemporaryDir folder;
    fake::writeFolder(*fake::orderAndWindow(), folder.path());
    const QString target = folder.filePath(QStringLiteral("fig.pdf"));
    for (const QString& sweep : {folder.path(), folder.filePath(QStringLiteral("results.json"))}) {
      QFile::remove(target);
      const Outcome outcome = figureWith({QStringLiteral("--sweep"), sweep, QStringLiteral("-o"), target});
      QVERIFY2(outcome.code == 0, qPrintable(outcome.errors));
      QVERIFY(content(target).startsWith("%PDF-"));
    }
    const Figure figure = readRecipe(recipePathFor(target));
    QCOMPARE(figure.panel_id, QStringLiteral("sweep"));
    QCOMPARE(QFileInfo(QString::fromStdString(figure.data.sweep->folder)).canonicalFilePath(),
             QFileInfo(folder.path()).canonicalFilePath());
  }

  void theRecipeGivesTheSamePicture() {
    const QTemporaryDir folder;
    fake::writeFolder(*fake::widths(), folder.path());
    const auto file = [&](const char* name) { return folder.filePath(QLatin1String(name)); };
    QCOMPARE(figureWith({"--sweep", folder.path(), "--chart", "dots", "--measure", "gap_oracle", "--palette", "dark",
                         "-o", file("a.png"), "-o", file("a.csv")})
                 .code,
             0);
    QCOMPARE(figureWith({file("a.recipe.json"), "-o", file("b.png"), "-o", file("b.csv")}).code, 0);
    QVERIFY(QImage(file("a.png")) == QImage(file("b.png")));
    QCOMPARE(content(file("a.csv")), content(file("b.csv")));
    QVERIFY(content(file("a.csv")).startsWith("model.d_model+model.d_state,case,gap_oracle_mean,"));
    QCOMPARE(content(file("a.csv")).count('\n'), 13);
  }

  void everyChartIsDrawn_data() {
    QTest::addColumn<QString>("chart");
    for (const char* const chart : {"heat", "lines", "dots", "curves", "matrix"}) QTest::newRow(chart) << chart;
  }

  void everyChartIsDrawn() {
    QFETCH(QString, chart);
    const QTemporaryDir folder;
    const auto data = fake::orderAndWindow(-1, true);
    fake::writeFolder(*data, folder.path());
    const QString target = folder.filePath(QStringLiteral("fig.svg"));
    const Outcome outcome = figureWith({"--sweep", folder.path(), "--chart", chart, "--log", "--caption", "--width-mm",
                                        "150", "--height-mm", "120", "-o", target});
    QVERIFY2(outcome.code == 0, qPrintable(outcome.errors));
    const QByteArray svg = content(target);
    QVERIFY(svg.contains("width=\"150mm\"") && svg.contains("An example: Gap to the best predictor"));
  }

  void whatIsThereOfAnUnfinishedSweepIsDrawn() {
    const QTemporaryDir folder;
    fake::writeFolder(*fake::orderAndWindow(31), folder.path());
    const QString target = folder.filePath(QStringLiteral("fig.csv"));
    QCOMPARE(figureWith({"--sweep", folder.path(), "-o", target}).code, 0);
    const QList<QByteArray> lines = content(target).split('\n');
    QVERIFY(lines[10].contains(",3,"));
    QVERIFY2(lines[11].contains(",1,"), lines[11].constData());
    QVERIFY(lines[12].contains(",0,"));
  }

  void whatCannotBeDrawnIsOneSentence_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("says");
    QTest::newRow("no folder") << QStringList{"--sweep", "/no/such"} << "/no/such";
    QTest::newRow("no sweep") << QStringList{"--sweep", QDir::rootPath()} << "results.json";
    QTest::newRow("chart") << QStringList{"--sweep", "FOLDER", "--chart", "pie"} << "it must be one of heat, lines";
    QTest::newRow("measure") << QStringList{"--sweep", "FOLDER", "--measure", "loss"}
                             << "it must be one of gap_add_beta";
    QTest::newRow("axis") << QStringList{"--sweep", "FOLDER", "--x", "task.states"} << "it must be one of task.order";
    QTest::newRow("both") << QStringList{"--sweep", "FOLDER", "--x", "task.order", "--by", "task.order"} << "x already";
    QTest::newRow("no curves") << QStringList{"--sweep", "FOLDER", "--chart", "curves"} << "not in its folder";
    QTest::newRow("and a run") << QStringList{"--sweep", "FOLDER", "--run", "x"} << "exactly one";
  }

  void whatCannotBeDrawnIsOneSentence() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, says);
    const QTemporaryDir folder;
    fake::writeFolder(*fake::orderAndWindow(), folder.path());
    arguments.replaceInStrings(QStringLiteral("FOLDER"), folder.path());
    const Outcome outcome = figureWith(arguments + QStringList{"-o", folder.filePath(QStringLiteral("x.pdf"))});
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.errors.contains(says), qPrintable(outcome.errors));
    QCOMPARE(outcome.errors.count(u'\n'), 1);
    QVERIFY(!QFile::exists(folder.filePath(QStringLiteral("x.pdf"))));
  }
};

QTEST_MAIN(SweepFigureTest)
#include "sweep_figure_test.moc"
