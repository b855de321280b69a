// mambarium figure, run as a function inside this process: what it makes and what it says when it cannot.

#include "ui/figure/figure_command.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include "command_outcome.h"
#include "plots_fake_data.h"
#include "ui/figure/figure_recipe.h"
#include "ui/figure/figure_renderer.h"

using namespace mambarium;

namespace {

nlohmann::json goodRecipe() {
  return figureToRecipe({QStringLiteral("gap"), nlohmann::json::object(), fake::threeRuns(), {}, {}, {}});
}

}  // namespace

class FigureCommandTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void makesEveryFormat_data();
  void makesEveryFormat();
  void optionsReplaceTheStyle();
  void brokenRecipesAreOneSentence_data();
  void brokenRecipesAreOneSentence();
  void badUsageIsOneSentence_data();
  void badUsageIsOneSentence();
  void whatCannotBeWrittenIsOne();

 private:
  QString recipeFile(const QByteArray& bytes) {
    const QString path = directory_.filePath(QStringLiteral("some.recipe.json"));
    QFile file(path);
    if (file.open(QIODevice::WriteOnly)) file.write(bytes);
    return path;
  }
  QTemporaryDir directory_;
};

void FigureCommandTest::makesEveryFormat_data() {
  QTest::addColumn<QString>("extension");
  QTest::addColumn<QByteArray>("start");
  QTest::newRow("pdf") << "pdf" << QByteArray("%PDF-");
  QTest::newRow("svg") << "svg" << QByteArray("<?xml");
  QTest::newRow("png") << "PNG" << QByteArray("\x89PNG");
  QTest::newRow("csv") << "csv" << QByteArray("run,step");
}

void FigureCommandTest::makesEveryFormat() {
  QFETCH(QString, extension);
  QFETCH(QByteArray, start);
  const QString recipe = recipeFile(QByteArray::fromStdString(goodRecipe().dump()));
  const QString target = directory_.filePath(QStringLiteral("made.") + extension);
  const Outcome outcome = figureWith({recipe, QStringLiteral("-o"), target});
  QVERIFY2(outcome.code == 0, qPrintable(outcome.errors));
  QFile file(target);
  QVERIFY(file.open(QIODevice::ReadOnly));
  QCOMPARE(file.read(start.size()), start);
}

void FigureCommandTest::optionsReplaceTheStyle() {
  const QString recipe = recipeFile(QByteArray::fromStdString(goodRecipe().dump()));
  const QString target = directory_.filePath(QStringLiteral("sized.png"));
  const Outcome outcome = figureWith({recipe, QStringLiteral("--output"), target, QStringLiteral("--width-mm"),
                                      QStringLiteral("100"), QStringLiteral("--height-mm=50"), QStringLiteral("--dpi"),
                                      QStringLiteral("254"), QStringLiteral("--font-pt"), QStringLiteral("7"),
                                      QStringLiteral("--palette"), QStringLiteral("dark")});
  QVERIFY2(outcome.code == 0, qPrintable(outcome.errors));
  const QImage image(target);
  QCOMPARE(image.size(), QSize(1000, 500));
  QCOMPARE(image.pixelColor(2, 2), Theme::screen(Appearance::dark).panel());
}

void FigureCommandTest::brokenRecipesAreOneSentence_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QString>("says");
  const auto row = [](const char* name, const nlohmann::json& recipe, const char* says) {
    QTest::newRow(name) << QByteArray::fromStdString(recipe.dump()) << QString::fromLatin1(says);
  };
  const auto changed = [](const char* pointer, const nlohmann::json& value) {
    nlohmann::json recipe = goodRecipe();
    recipe[nlohmann::json::json_pointer(pointer)] = value;
    return recipe;
  };
  QTest::newRow("empty") << QByteArray() << QStringLiteral("line 1, column 1");
  QTest::newRow("cut off") << QByteArray::fromStdString(goodRecipe().dump()).left(5000)
                           << QStringLiteral("is not JSON");
  QTest::newRow("binary") << QByteArray("\x00\xff\x13\x37", 4) << QStringLiteral("is not JSON");
  row("another document", nlohmann::json{{"model", 1}}, "not a figure recipe");
  row("a list", nlohmann::json::array({1, 2}), "not a figure recipe");
  row("newer version", changed("/recipe", 2), "version 2");
  row("unknown panel", changed("/panel", "pie"), "\"pie\"");
  row("bad option", changed("/options", {{"log", "maybe"}}), "options.log");
  row("options no object", changed("/options", 3), "\"options\"");
  row("too wide", changed("/style/width_mm", 5000), "style.width_mm is 5000");
  row("width no number", changed("/style/width_mm", "wide"), "style.width_mm");
  row("unknown palette", changed("/style/palette", "pink"), "style.palette");
  row(
      "no data",
      [] {
        auto recipe = goodRecipe();
        recipe.erase("data");
        return recipe;
      }(),
      "\"data\" is missing");
  row("no runs", changed("/data/runs", nlohmann::json::array()), "at least one run");
  row("current out of range", changed("/data/current", 9), "data.current");
  row("row is not a row", changed("/data/runs/1/rows/2", "x"), "data.runs[1].rows[2]");
  row("rows no list", changed("/data/runs/0/rows", 5), "data.runs[0].rows");
  row("bad setting", changed("/data/runs/0/experiment/model/d_state", 0), "model.d_state");
  row("bad pair", changed("/data/runs/0/train_losses/3", nlohmann::json::array({1})), "train_losses[3]");
  row(
      "nothing to draw",
      [] {
        auto recipe = goodRecipe();
        for (auto& run : recipe["data"]["runs"]) run["rows"] = nlohmann::json::array();
        return recipe;
      }(),
      "shows nothing");
}

void FigureCommandTest::brokenRecipesAreOneSentence() {
  QFETCH(QByteArray, bytes);
  QFETCH(QString, says);
  const QString target = directory_.filePath(QStringLiteral("never.pdf"));
  const Outcome outcome = figureWith({recipeFile(bytes), QStringLiteral("-o"), target});
  QCOMPARE(outcome.code, 2);
  QVERIFY2(outcome.errors.contains(says), qPrintable(outcome.errors));
  QCOMPARE(outcome.errors.count(u'\n'), 1);
  QVERIFY2(outcome.errors.endsWith(QStringLiteral(".\n")), qPrintable(outcome.errors));
  QVERIFY(!QFile::exists(target));
}

void FigureCommandTest::badUsageIsOneSentence_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("says");
  const QString o = QStringLiteral("-o"), pdf = QStringLiteral("x.pdf"), recipe = QStringLiteral("RECIPE");
  QTest::newRow("nothing") << QStringList() << "exactly one recipe";
  QTest::newRow("two recipes") << QStringList{recipe, recipe, o, pdf} << "exactly one recipe";
  QTest::newRow("no output") << QStringList{recipe} << "-o FILE";
  QTest::newRow("unknown option") << QStringList{recipe, o, pdf, QStringLiteral("--colour")} << "colour";
  QTest::newRow("no number") << QStringList{recipe, o, pdf, QStringLiteral("--width-mm"), QStringLiteral("wide")}
                             << "--width-mm is \"wide\"";
  QTest::newRow("out of range") << QStringList{recipe, o, pdf, QStringLiteral("--width-mm"), QStringLiteral("-3")}
                                << "style.width_mm is -3";
  QTest::newRow("not a number") << QStringList{recipe, o, pdf, QStringLiteral("--height-mm"), QStringLiteral("nan")}
                                << "style.height_mm";
  QTest::newRow("palette") << QStringList{recipe, o, pdf, QStringLiteral("--palette"), QStringLiteral("pink")}
                           << "--palette";
  QTest::newRow("format") << QStringList{recipe, o, QStringLiteral("x.gif")} << ".pdf, .svg, .png or .csv";
  QTest::newRow("missing recipe") << QStringList{QStringLiteral("/no/such.json"), o, pdf} << "/no/such.json";
  QTest::newRow("a folder") << QStringList{QDir::tempPath(), o, pdf} << "cannot be read";
}

void FigureCommandTest::badUsageIsOneSentence() {
  QFETCH(QStringList, arguments);
  QFETCH(QString, says);
  const QString recipe = recipeFile(QByteArray::fromStdString(goodRecipe().dump()));
  for (QString& argument : arguments) {
    if (argument == u"RECIPE") argument = recipe;
    if (argument.startsWith(QStringLiteral("x."))) argument = directory_.filePath(argument);
  }
  const Outcome outcome = figureWith(arguments);
  QCOMPARE(outcome.code, 2);
  QVERIFY2(outcome.errors.contains(says), qPrintable(outcome.errors));
  QCOMPARE(outcome.errors.count(u'\n'), 1);
}

void FigureCommandTest::whatCannotBeWrittenIsOne() {
  const QString recipe = recipeFile(QByteArray::fromStdString(goodRecipe().dump()));
  const Outcome outcome =
      figureWith({recipe, QStringLiteral("-o"), directory_.filePath(QStringLiteral("no/such/x.pdf"))});
  QCOMPARE(outcome.code, 1);
  QVERIFY2(outcome.errors.contains(QStringLiteral("x.pdf cannot be written")), qPrintable(outcome.errors));
  QCOMPARE(outcome.errors.count(u'\n'), 1);
}

QTEST_MAIN(FigureCommandTest)
#include "figure_command_test.moc"
