// Figures as files: sizes, text, fonts, numbers, recipes. PDF is judged by poppler's tools, not by our own code.

#include <qcustomplot.h>
#include <sys/resource.h>

#include <QDir>
#include <QFileInfo>
#include <QPainter>
#include <QProcess>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>

#include "core/contract/lower_bound.h"
#include "plots_fake_data.h"
#include "ui/figure/figure_recipe.h"
#include "ui/figure/figure_renderer.h"

using namespace mambarium;

namespace {

Figure figureFor(const QString& id, const FigureStyle& style = {}) {
  return {id, nlohmann::json::object(), fake::panelData(id), style, {}, {}};
}

QString output(const QString& program, const QStringList& arguments) {
  QProcess process;
  process.start(program, arguments);
  if (!process.waitForFinished(30000) || process.exitCode() != 0)
    return QStringLiteral("FAILED: ") + QString::fromUtf8(process.readAllStandardError());
  return QString::fromUtf8(process.readAllStandardOutput());
}

double columnValue(const QString& field) {
  const std::string text = field.toStdString();
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ptr == text.data() + text.size() ? value : std::nan("");
}

}  // namespace

class FigureTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void pdfHasTheAskedSizeAndItsTextIsText_data();
  void pdfHasTheAskedSizeAndItsTextIsText();
  void svgHasTheAskedSizeAndReads_data() { panels(); }
  void svgHasTheAskedSizeAndReads();
  void pngHasTheAskedPixelsAndDensity();
  void csvIsTheTableToTheLastBit_data() { panels(); }
  void csvIsTheTableToTheLastBit();
  void csvQuotesWhatNeedsIt();
  void recipeGivesTheSameDrawing_data() { panels(); }
  void recipeGivesTheSameDrawing();
  void anotherValueGivesAnotherDrawing();
  void recipeSaysWhereItComesFrom();
  void titleAndCaptionAreInTheFigure();
  void darkAndLightDiffer();
  void failuresToWriteAreASentence();
  void aFullDiskLeavesTheOldFile();
  void fontsAreTabular();

 private:
  static void panels();
  QString save(const Figure& figure, const QString& name);
  QImage rendered(const QString& pdf);
  QTemporaryDir directory_;
};

void FigureTest::panels() {
  QTest::addColumn<QString>("id");
  for (const QString& id : panelIds()) QTest::newRow(qPrintable(id)) << id;
}

QString FigureTest::save(const Figure& figure, const QString& name) {
  const QString path = directory_.filePath(name);
  const auto failure = saveFigure(figure, path);
  if (failure) qWarning() << *failure;
  return path;
}

QImage FigureTest::rendered(const QString& pdf) {
  const QString base = pdf + QStringLiteral(".page");
  const QString said = output(
      QStringLiteral("pdftoppm"),
      {QStringLiteral("-r"), QStringLiteral("120"), QStringLiteral("-singlefile"), QStringLiteral("-png"), pdf, base});
  if (!said.isEmpty()) qWarning() << said;
  return QImage(base + QStringLiteral(".png"));
}

void FigureTest::pdfHasTheAskedSizeAndItsTextIsText_data() {
  QTest::addColumn<QString>("id");
  QTest::addColumn<double>("width");
  QTest::addColumn<double>("height");
  for (const QString& id : panelIds())
    for (const auto& [width, height] :
         {std::pair(85.0, 60.0), std::pair(174.0, 80.0), std::pair(254.0, 143.0), std::pair(120.3, 77.7)})
      QTest::addRow("%s %g x %g", qPrintable(id), width, height) << id << width << height;
}

void FigureTest::pdfHasTheAskedSizeAndItsTextIsText() {
  QFETCH(QString, id);
  QFETCH(double, width);
  QFETCH(double, height);
  FigureStyle style;
  style.width_mm = width;
  style.height_mm = height;
  const QString path = save(figureFor(id, style), QStringLiteral("size.pdf"));

  const QString info = output(QStringLiteral("pdfinfo"), {path});
  const auto size = QRegularExpression(QStringLiteral("Page size: +([0-9.]+) x ([0-9.]+) pts")).match(info);
  QVERIFY2(size.hasMatch(), qPrintable(info));
  QVERIFY(std::abs(size.captured(1).toDouble() / 72 * 25.4 - width) < 0.01);
  QVERIFY(std::abs(size.captured(2).toDouble() / 72 * 25.4 - height) < 0.01);
  QVERIFY(info.contains(QRegularExpression(QStringLiteral("Pages: +1\n"))));

  const QStringList fonts = output(QStringLiteral("pdffonts"), {path}).split(u'\n', Qt::SkipEmptyParts).mid(2);
  QVERIFY(!fonts.isEmpty());
  for (const QString& font : fonts)
    QVERIFY2(font.contains(QRegularExpression(QStringLiteral("MambariumSans.* yes +(yes|no) +yes"))), qPrintable(font));

  const auto panel = makeFigurePanel(figureFor(id, style));
  const QString text =
      output(QStringLiteral("pdftotext"), {QStringLiteral("-raw"), path, QStringLiteral("-")}).simplified();
  for (QCustomPlot* plot : panel->plots())
    for (QCPAxisRect* rect : plot->axisRects())
      for (const QCPAxis* axis : rect->axes())
        if (axis->visible() && !axis->label().isEmpty())
          QVERIFY2(text.contains(axis->label().simplified()),
                   qPrintable(axis->label() + QStringLiteral(" is not in: ") + text));
  QVERIFY(
      output(QStringLiteral("pdfimages"), {QStringLiteral("-list"), path}).split(u'\n', Qt::SkipEmptyParts).size() ==
      2);
}

void FigureTest::svgHasTheAskedSizeAndReads() {
  QFETCH(QString, id);
  const QByteArray svg = figureSvg(figureFor(id));
  QXmlStreamReader reader(svg);
  QStringList texts, families;
  QString width, height;
  while (!reader.atEnd()) {
    reader.readNext();
    if (!reader.isStartElement()) continue;
    if (reader.name() == u"svg") {
      width = reader.attributes().value(QStringLiteral("width")).toString();
      height = reader.attributes().value(QStringLiteral("height")).toString();
    }
    if (reader.name() != u"text") continue;
    families << reader.attributes().value(QStringLiteral("font-family")).toString();
    texts << reader.readElementText().trimmed();
  }
  QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
  QCOMPARE(width, QStringLiteral("85mm"));
  QCOMPARE(height, QStringLiteral("60mm"));
  families.removeDuplicates();
  QCOMPARE(families, QStringList{QStringLiteral("Mambarium Sans, Inter, Helvetica, Arial, sans-serif")});
  const auto panel = makeFigurePanel(figureFor(id));
  const auto rects = panel->plots().front()->axisRects();
  QVERIFY(std::ranges::any_of(rects, [&](const QCPAxisRect* rect) {
    const QString label = rect->axis(QCPAxis::atLeft)->label();
    return !label.isEmpty() && texts.contains(label);
  }));

  QSvgRenderer renderer(svg);
  QVERIFY(renderer.isValid());
  QImage image(850, 600, QImage::Format_RGB32);
  image.fill(Qt::magenta);
  QPainter painter(&image);
  renderer.render(&painter);
  painter.end();
  QCOMPARE(image.pixelColor(1, 1), QColor(Qt::white));
  QCOMPARE(image.pixelColor(848, 598), QColor(Qt::white));
}

void FigureTest::pngHasTheAskedPixelsAndDensity() {
  FigureStyle style;
  style.width_mm = 85;
  style.height_mm = 60;
  style.dpi = 300;
  QImage image;
  QVERIFY(image.loadFromData(figurePng(figureFor(QStringLiteral("gap"), style)), "PNG"));
  QCOMPARE(image.size(), QSize(1004, 709));
  QCOMPARE(image.dotsPerMeterX(), 11811);
}

void FigureTest::csvIsTheTableToTheLastBit() {
  QFETCH(QString, id);
  const Figure figure = figureFor(id);
  const auto panel = makeFigurePanel(figure);
  const QStringList lines = QString::fromUtf8(figureCsv(figure)).split(u'\n', Qt::SkipEmptyParts);
  const PanelTable table = panel->table();
  QCOMPARE(lines.size(), static_cast<qsizetype>(table.rows.size()) + 1);
  QCOMPARE(lines.front(), table.columns.join(u','));

  // Every number of the data must come back from the file with all its bits.
  std::vector<double> numbers;
  for (const QString& line : lines.mid(1)) numbers.push_back(columnValue(line.section(u',', -1)));
  if (id == u"decay") {
    const auto decay = figure.data.inspected->get<DecayData>();
    QCOMPARE(numbers.size(), decay.decay.data.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) QCOMPARE(static_cast<float>(numbers[i]), decay.decay.data[i]);
  } else if (id == u"prediction") {
    const auto prediction = figure.data.inspected->get<PredictionData>();
    QCOMPARE(numbers.size(), prediction.tokens.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      QCOMPARE(static_cast<float>(numbers[i]), prediction.oracle.data[2 * i + 1]);
  } else if (id == u"gap") {
    std::size_t line = 1;
    for (const RunSeries& run : figure.data.runs)
      for (const MetricsRow& row : run.rows) {
        const QString fields = lines[static_cast<qsizetype>(line++)];
        QCOMPARE(columnValue(fields.section(u',', -3, -3)), row.gap_add_beta);
        QCOMPARE(columnValue(fields.section(u',', -2, -2)), row.gap_oracle);
      }
  } else if (id == u"loss") {
    std::size_t tests = 0;
    for (const QString& line : lines.mid(1)) tests += line.contains(QStringLiteral(",test,")) ? 1 : 0;
    std::size_t expected = 0;
    for (const RunSeries& run : figure.data.runs) expected += run.rows.size();
    QCOMPARE(tests, expected);
    QCOMPARE(columnValue(lines[1].section(u',', -1)), figure.data.runs[0].train_losses[0].second);
  } else if (id == u"state") {
    const auto state = figure.data.inspected->get<StateData>();
    QCOMPARE(numbers.size(), state.state.data.size() + 2 * state.counts.data.size());
    QCOMPARE(static_cast<float>(numbers.back()), state.read_out.data.back());
  } else if (id == u"inner-products") {
    const auto products = figure.data.inspected->get<InnerProductData>();
    QCOMPARE(numbers.size(), products.products.data.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      QCOMPARE(static_cast<float>(numbers[i]), products.products.data[i]);
  } else if (id == u"flow") {
    const auto flow = figure.data.inspected->get<FlowData>();
    QCOMPARE(numbers.size(), flow.tokens.size());
    const qsizetype column = table.columns.indexOf(QStringLiteral("drive%1").arg(flow.A.shape[0]));
    QCOMPARE(static_cast<float>(columnValue(lines.back().section(u',', column, column))), flow.drive.data.back());
  } else if (id == u"reconstruction") {
    const auto replay = figure.data.inspected->get<ReconstructionData>();
    QCOMPARE(numbers.size(), replay.state.data.size());
    QCOMPARE(numbers.back(), replay.error.back());
  } else if (id == u"circuit") {
    const auto circuit = figure.data.inspected->get<CircuitData>();
    for (std::size_t i = 0; i < circuit.coupling.data.size(); ++i)
      QCOMPARE(static_cast<float>(numbers[i]), circuit.coupling.data[i]);
    QCOMPARE(numbers.back(), circuit.picard.back());
  } else if (id == u"extrapolation") {
    const auto extrapolation = figure.data.inspected->get<ExtrapolationData>();
    QCOMPARE(numbers.size(), extrapolation.points.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) QCOMPARE(numbers[i], extrapolation.points[i].accuracy());
  } else if (id == u"decoding") {
    const auto decoding = figure.data.inspected->get<DecodingData>();
    for (std::size_t i = 0; i < decoding.model.confusion.data.size(); ++i)
      QCOMPARE(static_cast<float>(numbers[i]), decoding.model.confusion.data[i]);
    QCOMPARE(numbers.back(), 1.0 / 8);
  } else if (id == u"theory") {
    QCOMPARE(numbers[0], lower_bound_bits(2, 1, 0.01));
  } else {
    const auto filters = figure.data.inspected->get<FilterData>();
    QCOMPARE(static_cast<float>(numbers[0]), filters.layers[0][0].taps.data[0]);
    QCOMPARE(static_cast<float>(numbers.back()), filters.layers[0][2].bias.data.back());
    QCOMPARE(numbers.size(), std::size_t{(16 + 8 + 8) * (2 + 1)});
  }
}

void FigureTest::csvQuotesWhatNeedsIt() {
  Figure figure = figureFor(QStringLiteral("gap"));
  figure.data.runs.resize(1);
  figure.data.runs[0].title = "a \"b\", c";
  const QByteArray csv = figureCsv(figure);
  QVERIFY2(csv.contains("\"a \"\"b\"\", c\",0,"), csv.left(300).constData());
}

void FigureTest::recipeGivesTheSameDrawing() {
  QFETCH(QString, id);
  Figure figure = figureFor(id);
  if (id == u"gap") figure.options = {{"log", false}, {"oracle", true}};
  if (id == u"filters") figure.options = {{"view", "stems"}};
  const QString recipe = directory_.filePath(QStringLiteral("again.recipe.json"));
  QVERIFY(!writeFile(recipe, recipeBytes(figure)));
  const Figure again = readRecipe(recipe);
  QCOMPARE(again.panel_id, figure.panel_id);
  QVERIFY(again.style == figure.style);
  QCOMPARE(figureCsv(again), figureCsv(figure));
  const QImage first = rendered(save(figure, QStringLiteral("first.pdf")));
  const QImage second = rendered(save(again, QStringLiteral("second.pdf")));
  QVERIFY(!first.isNull());
  QVERIFY(first == second);
}

void FigureTest::anotherValueGivesAnotherDrawing() {
  const Figure figure = figureFor(QStringLiteral("gap"));
  Figure other = figure;
  other.data.runs[0].rows[5].gap_add_beta *= 3;
  QVERIFY(rendered(save(figure, QStringLiteral("one.pdf"))) != rendered(save(other, QStringLiteral("two.pdf"))));
}

void FigureTest::recipeSaysWhereItComesFrom() {
  Figure figure = figureFor(QStringLiteral("decay"));
  figure.data.runs[0].folder = "runs/it's here";
  figure.options = {{"probe", 3}};
  const nlohmann::json recipe = figureToRecipe(figure);
  const nlohmann::json& from = recipe["provenance"];
  QCOMPARE(from["runs"][0]["folder"].get<std::string>(), std::string("runs/it's here"));
  QCOMPARE(from["runs"][0]["step"].get<int>(), 1240);
  const ParsedConfig shared = config_from_share_string(from["runs"][0]["share"].get<std::string>());
  QVERIFY(shared.problems.empty());
  QVERIFY(shared.config == figure.data.runs[0].config);
  QVERIFY(!from["version"].get<std::string>().empty());
  QCOMPARE(from["inspect_command"].get<std::string>(),
           std::string("mambarium-worker inspect 'runs/it'\\''s here' --what decay --probe 3 --at 1240"));
  QVERIFY(!figureToRecipe(figureFor(QStringLiteral("gap")))["provenance"].contains("inspect_command"));
}

void FigureTest::titleAndCaptionAreInTheFigure() {
  Figure figure = figureFor(QStringLiteral("loss"));
  figure.title = QStringLiteral("Learning a chain");
  figure.caption =
      QStringLiteral("Three runs on the same test set, one of them without its convolution, and none of them cropped.");
  const QString text =
      output(QStringLiteral("pdftotext"), {save(figure, QStringLiteral("words.pdf")), QStringLiteral("-")})
          .simplified();
  QVERIFY2(text.contains(figure.title), qPrintable(text));
  QVERIFY2(text.contains(figure.caption), qPrintable(text));
}

void FigureTest::darkAndLightDiffer() {
  Figure figure = figureFor(QStringLiteral("gap"));
  QCOMPARE(figureImage(figure, 72).pixelColor(2, 2), QColor(Qt::white));
  figure.style.dark = true;
  QCOMPARE(figureImage(figure, 72).pixelColor(2, 2), Theme::screen(Appearance::dark).panel());
}

void FigureTest::failuresToWriteAreASentence() {
  const Figure figure = figureFor(QStringLiteral("gap"));
  const auto nowhere = saveFigure(figure, directory_.filePath(QStringLiteral("no/such/folder/a.pdf")));
  QVERIFY(nowhere && nowhere->contains(u"a.pdf") && nowhere->endsWith(u'.'));
  const QString taken = directory_.filePath(QStringLiteral("taken.pdf"));
  QVERIFY(QDir().mkpath(taken));
  QVERIFY(saveFigure(figure, taken).has_value());
  QVERIFY(QFileInfo(taken).isDir());
  QVERIFY_EXCEPTION_THROWN(saveFigure(figure, directory_.filePath(QStringLiteral("a.gif"))), std::invalid_argument);
}

void FigureTest::aFullDiskLeavesTheOldFile() {
  const QString path = directory_.filePath(QStringLiteral("old.pdf"));
  QVERIFY(!writeFile(path, "old"));
  const QByteArray pdf = figurePdf(figureFor(QStringLiteral("gap")));
  rlimit before{};
  QCOMPARE(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  QCOMPARE(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto failure = writeFile(path, pdf);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  QVERIFY(failure.has_value());
  QVERIFY2(!failure->contains(QStringLiteral("Unknown")), qPrintable(*failure));
  QFile file(path);
  QVERIFY(file.open(QIODevice::ReadOnly));
  QCOMPARE(file.readAll(), QByteArray("old"));
}

void FigureTest::fontsAreTabular() {
  QVERIFY(loadFonts());
  for (const QFont& font : {Theme().font(), Theme().titleFont(), Theme().smallFont()}) {
    QCOMPARE(QFontInfo(font).family(), QStringLiteral("Mambarium Sans"));
    const QFontMetricsF metrics(font);
    for (const QChar digit : QStringLiteral("0123456789"))
      QCOMPARE(metrics.horizontalAdvance(digit), metrics.horizontalAdvance(u'1'));
  }
}

QTEST_MAIN(FigureTest)
#include "figure_test.moc"
