// Panels on made-up data: the right numbers, the right words, and controls worked as a person would.

#include <qcustomplot.h>

#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <QToolButton>
#include <cmath>
#include <memory>
#include <set>

#include "plots_fake_data.h"
#include "ui/plots/chart.h"
#include "ui/plots/panel.h"
#include "ui/plots/theme.h"

using namespace mambarium;

namespace {

const std::initializer_list<const char*> all_ids = {"loss", "gap", "prediction", "decay", "filters"};

PanelData dataFor(const QString& id) {
  if (id == u"prediction") return fake::inspected(fake::prediction(128, 2));
  if (id == u"decay") return fake::inspected(fake::decay(128, 1, 1));
  if (id == u"filters") return fake::inspected(fake::filters(1, 2));
  return fake::threeRuns();
}

std::unique_ptr<Panel> shownPanel(const QString& id, const PanelData& data) {
  std::unique_ptr<Panel> panel(makePanel(id, nullptr));
  panel->setTheme(Theme());
  panel->resize(640, 360);
  panel->show(data);
  panel->show();
  if (!QTest::qWaitForWindowExposed(panel.get())) return nullptr;
  QTest::qWait(30);
  return panel;
}

QCustomPlot* plotOf(const Panel& panel) {
  return panel.plots().front();
}

template <typename Widget>
Widget* named(const Panel& panel, const QString& part) {
  for (Widget* widget : panel.findChildren<Widget*>())
    if (widget->accessibleName().contains(part)) return widget;
  return nullptr;
}

void moveMouse(QCustomPlot* plot, QPointF pixel) {
  QMouseEvent event(QEvent::MouseMove, pixel, plot->mapToGlobal(pixel), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
  QCoreApplication::sendEvent(plot, &event);
}

// The main axis rect is the lowest; strips lie above it.
QCPAxisRect* mainRect(QCustomPlot* plot) {
  return plot->axisRects().back();
}

QPointF pixelOfToken(QCustomPlot* plot, int t) {
  return {mainRect(plot)->axis(QCPAxis::atBottom)->coordToPixel(t), double(mainRect(plot)->top() + 20)};
}

}  // namespace

class PanelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void emptyPanelsSayWhatWouldAppear_data() { panels(); }
  void emptyPanelsSayWhatWouldAppear();
  void everyControlHasAName_data() { panels(); }
  void everyControlHasAName();
  void nothingIsDrawnTwice_data() { panels(); }
  void nothingIsDrawnTwice();
  void framesLeaveNothingBehind_data() { panels(); }
  void framesLeaveNothingBehind();
  void malformedAnswersAreASentence_data() { panels(); }
  void malformedAnswersAreASentence();
  void badOptionsAreASentenceAndChangeNothing_data();
  void badOptionsAreASentenceAndChangeNothing();
  void optionsRoundTrip_data() { panels(); }
  void optionsRoundTrip();
  void recipeDataRoundTrip_data() { panels(); }
  void recipeDataRoundTrip();
  void themesReachThePlot_data() { panels(); }
  void themesReachThePlot();
  void exportButtonAsks();

  void lossSaysAndTabulatesWhatItShows();
  void lossSmoothingLeavesTheTableAlone();
  void gapSaysWhatItShows();
  void gapTrendFollowsTheNumbers();
  void gapsAtOrBelowZeroHaveAStrip();
  void gapTogglesByClickAndKey();
  void gapCompared();
  void gapAxisHoldsTheFloorLine();
  void aForkHangsFromItsParent_data();
  void aForkHangsFromItsParent();
  void ticksLeaveRoomForEachOther();
  void referencesOfOneTaskAreNamedOnce();
  void stepAxisGrowsInSteps();
  void stepHoverReadsTheNearestEvaluation();

  void predictionShowsTheChosenSymbol();
  void predictionShowsOneContext();
  void predictionCaptionIsTrue();
  void hoverTellsTheTokenAndOthersLightUp();
  void hoverLabelKeepsClearOfTheCurve();
  void probeAndCheckpointChangeWhatIsWanted();

  void decayIsReadableNearOne();
  void decayOfOneHasItsOwnPlace();
  void decayLinesPerHead();
  void switchTokensAreMarked();
  void filtersMapAndStemsShowTheSameNumbers();
  void filtersWithoutConvolutionSaySo();
  void whatAKindOfModelHasNotIsSaid();
  void filtersSliderReplaysCheckpoints();

 private:
  static void panels();
};

void PanelsTest::panels() {
  QTest::addColumn<QString>("id");
  for (const char* id : all_ids) QTest::newRow(id) << QString::fromLatin1(id);
}

void PanelsTest::emptyPanelsSayWhatWouldAppear() {
  QFETCH(QString, id);
  const auto panel = shownPanel(id, {});
  QVERIFY(!panel->hasData());
  QVERIFY2(panel->caption().contains(QStringLiteral("Press Play (Space)")), qPrintable(panel->caption()));
  QVERIFY(!plotOf(*panel)->isVisible());
  QVERIFY(panel->table().rows.empty());
  panel->show(dataFor(id));
  QVERIFY(panel->hasData() && plotOf(*panel)->isVisible());
  const PanelTable table = panel->table();
  QVERIFY(!table.rows.empty());
  for (const QStringList& row : table.rows) QCOMPARE(row.size(), table.columns.size());
  QCOMPARE(panel->accessibleDescription(), panel->caption());
  QVERIFY(panel->caption().endsWith(u'.'));
  panel->show(PanelData{});
  QVERIFY(!panel->hasData() && !plotOf(*panel)->isVisible());
}

void PanelsTest::everyControlHasAName() {
  QFETCH(QString, id);
  const auto panel = shownPanel(id, dataFor(id));
  QVERIFY(!panel->accessibleName().isEmpty());
  QList<QWidget*> controls;
  for (auto* widget : panel->findChildren<QAbstractButton*>()) controls << widget;
  for (auto* widget : panel->findChildren<QComboBox*>()) controls << widget;
  for (auto* widget : panel->findChildren<QSlider*>()) controls << widget;
  QVERIFY(!controls.isEmpty());
  for (const QWidget* control : controls) {
    QVERIFY(!control->accessibleName().isEmpty());
    QVERIFY2(!control->toolTip().isEmpty(), qPrintable(control->accessibleName()));
    QVERIFY(control->focusPolicy() & Qt::TabFocus);
  }
}

void PanelsTest::nothingIsDrawnTwice() {
  QFETCH(QString, id);
  const PanelData data = dataFor(id);
  const auto panel = shownPanel(id, data);
  QSignalSpy replots(plotOf(*panel), &QCustomPlot::afterReplot);
  for (int frame = 0; frame < 10; ++frame) {
    panel->show(data);
    QCoreApplication::processEvents();
  }
  QCOMPARE(replots.size(), 0);
  PanelData more = data;
  more.runs[0].title += " again";
  panel->show(more);
  QTRY_COMPARE(replots.size(), 1);
}

void PanelsTest::framesLeaveNothingBehind() {
  QFETCH(QString, id);
  const auto panel = shownPanel(id, dataFor(id));
  const auto counts = [&] {
    const QCustomPlot* plot = plotOf(*panel);
    return std::vector<int>{plot->plottableCount(), plot->itemCount(), plot->axisRectCount(),
                            static_cast<int>(panel->findChildren<QObject*>().size())};
  };
  PanelData data = dataFor(id);
  const auto nudge = [&](int frame) {
    if (id == u"filters") data.inspected = nlohmann::json(fake::filters(1, 2 + frame % 2));
    if (id == u"decay") data.inspected = nlohmann::json(fake::decay(100 + frame % 2, 1, 1));
    if (id == u"prediction") data.inspected = nlohmann::json(fake::prediction(100 + frame % 2, 2));
    data.runs[0] = fake::run("full", 0, 0.0007, 1000 + frame % 2);
    panel->show(data);
    QCoreApplication::processEvents();
  };
  nudge(0);
  nudge(1);
  const auto before = counts();
  for (int frame = 0; frame < 40; ++frame) nudge(frame);
  QCOMPARE(counts(), before);
}

void PanelsTest::malformedAnswersAreASentence() {
  QFETCH(QString, id);
  if (id == u"loss" || id == u"gap") return;
  const auto panel = shownPanel(id, dataFor(id));
  PanelData bad = dataFor(id);
  bad.inspected = nlohmann::json{{"step", 3}, {"tokens", "many"}, {"layers", 7}};
  panel->show(bad);
  QVERIFY(!panel->hasData());
  QVERIFY2(panel->caption().startsWith(id.left(5)) && panel->caption().contains(QStringLiteral(" data")),
           qPrintable(panel->caption()));
  QVERIFY(panel->table().rows.empty());
  panel->show(dataFor(id));
  QVERIFY(panel->hasData());
}

void PanelsTest::badOptionsAreASentenceAndChangeNothing_data() {
  QTest::addColumn<QString>("id");
  QTest::addColumn<QString>("options");
  QTest::newRow("loss") << "loss"
                        << R"({"smooth": true, "train": "yes"})";
  QTest::newRow("gap") << "gap"
                       << R"({"oracle": false, "log": 1})";
  QTest::newRow("symbol") << "prediction"
                          << R"({"probe": 2, "symbol": -1})";
  QTest::newRow("context") << "prediction"
                           << R"({"context": "a b"})";
  QTest::newRow("probe") << "decay"
                         << R"({"scale": "linear", "probe": 8})";
  QTest::newRow("scale") << "decay"
                         << R"({"probe": 1, "scale": "cubic"})";
  QTest::newRow("view") << "filters"
                        << R"({"layer": 1, "view": "pie"})";
}

void PanelsTest::badOptionsAreASentenceAndChangeNothing() {
  QFETCH(QString, id);
  QFETCH(QString, options);
  const auto panel = shownPanel(id, dataFor(id));
  const nlohmann::json before = panel->options();
  try {
    panel->setOptions(nlohmann::json::parse(options.toStdString()));
    QFAIL("accepted");
  } catch (const std::invalid_argument& problem) {
    QVERIFY(QString::fromUtf8(problem.what()).contains(id));
  }
  QVERIFY(panel->options() == before);
  panel->setOptions({{"from the future", 1}});
  QVERIFY(panel->options() == before);
}

void PanelsTest::optionsRoundTrip() {
  QFETCH(QString, id);
  const std::map<QString, nlohmann::json> others = {{"loss", {{"train", false}, {"smooth", true}}},
                                                    {"gap", {{"log", false}, {"oracle", false}}},
                                                    {"prediction", {{"probe", 5}, {"symbol", 0}, {"context", "1"}}},
                                                    {"decay", {{"probe", 4}, {"scale", "linear"}}},
                                                    {"filters", {{"view", "stems"}, {"layer", 0}}}};
  const auto panel = shownPanel(id, dataFor(id));
  QVERIFY(panel->options() != others.at(id));
  panel->setOptions(others.at(id));
  QVERIFY(panel->options() == others.at(id));
}

void PanelsTest::recipeDataRoundTrip() {
  QFETCH(QString, id);
  const PanelData data = dataFor(id);
  const std::string text = to_recipe_json(data).dump();
  const PanelData again = panel_data_from_recipe(nlohmann::json::parse(text));
  QCOMPARE(again.runs.size(), data.runs.size());
  for (std::size_t i = 0; i < data.runs.size(); ++i) {
    QVERIFY(again.runs[i].config == data.runs[i].config);
    QCOMPARE(again.runs[i].rows.size(), data.runs[i].rows.size());
    QVERIFY(std::isnan(again.runs[i].rows[0].train_loss));
    for (std::size_t row = 0; row < data.runs[i].rows.size(); ++row)
      QCOMPARE(again.runs[i].rows[row].gap_add_beta, data.runs[i].rows[row].gap_add_beta);
    QVERIFY(again.runs[i].train_losses == data.runs[i].train_losses);
  }
  QCOMPARE(to_recipe_json(again).dump(), text);
  QCOMPARE(again.inspected.has_value(), data.inspected.has_value());
}

void PanelsTest::themesReachThePlot() {
  QFETCH(QString, id);
  const auto panel = shownPanel(id, dataFor(id));
  for (const Appearance appearance : {Appearance::dark, Appearance::light}) {
    const Theme theme = Theme::screen(appearance);
    panel->setTheme(theme);
    QTest::qWait(30);
    const QImage image = plotOf(*panel)->grab().toImage();
    QCOMPARE(image.pixelColor(image.width() - 2, image.height() - 2), theme.panel());
    QCOMPARE(mainRect(plotOf(*panel))->axis(QCPAxis::atBottom)->labelColor(), theme.text());
  }
}

void PanelsTest::exportButtonAsks() {
  const auto panel = shownPanel(QStringLiteral("gap"), fake::oneRun());
  QSignalSpy asked(panel.get(), &Panel::exportRequested);
  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("Export")), Qt::LeftButton);
  QCOMPARE(asked.size(), 1);
}

void PanelsTest::lossSaysAndTabulatesWhatItShows() {
  const PanelData data = fake::oneRun();
  const auto panel = shownPanel(QStringLiteral("loss"), data);
  const MetricsRow& last = data.runs[0].rows.back();
  const QString test = QString::number(last.test_loss, 'f', 4);
  const QString above = QString::number(last.test_loss - last.add_beta_loss, 'f', 4);
  const QString below = QString::number(std::log(2) - last.test_loss, 'f', 4);
  QCOMPARE(
      panel->caption(),
      QStringLiteral("Step 1,240 of 2,000: test loss %1 nats per token, %2 above add-1 and %3 below a uniform guess.")
          .arg(test, above, below));

  std::map<QString, std::vector<double>> series;
  for (const QStringList& row : panel->table().rows) series[row[2]].push_back(row[3].toDouble());
  QCOMPARE(series["test"].size(), data.runs[0].rows.size());
  QCOMPARE(series["train"].size(), data.runs[0].train_losses.size());
  QCOMPARE(series["uniform"], std::vector<double>{std::log(2.0)});
  QCOMPARE(series["oracle"], std::vector<double>{last.oracle_loss});
  for (std::size_t i = 0; i < data.runs[0].rows.size(); ++i)
    QCOMPARE(series["test"][i], data.runs[0].rows[i].test_loss);
}

void PanelsTest::lossSmoothingLeavesTheTableAlone() {
  const auto panel = shownPanel(QStringLiteral("loss"), fake::oneRun());
  const auto before = panel->table().rows;
  const auto visible = [&] {
    int count = 0;
    for (int i = 0; i < plotOf(*panel)->graphCount(); ++i) count += plotOf(*panel)->graph(i)->visible() ? 1 : 0;
    return count;
  };
  const int lines = visible();
  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("Smooth")), Qt::LeftButton);
  QCOMPARE(visible(), lines + 1);
  QVERIFY(panel->table().rows == before);

  // The mean in front follows the raw line: never outside the raw values it is made of.
  const QCPGraph* raw = plotOf(*panel)->graph(3);
  const QCPGraph* mean = plotOf(*panel)->graph(4);
  QCOMPARE(mean->dataCount(), raw->dataCount());
  double low = INFINITY, high = -INFINITY;
  for (const QCPGraphData& point : *raw->data()) {
    low = std::min(low, point.value);
    high = std::max(high, point.value);
  }
  for (const QCPGraphData& point : *mean->data()) QVERIFY(low <= point.value && point.value <= high);
}

void PanelsTest::gapSaysWhatItShows() {
  const PanelData data = fake::oneRun();
  const auto panel = shownPanel(QStringLiteral("gap"), data);
  QCOMPARE(panel->caption(), QStringLiteral("Step 1,240 of 2,000: gap to add-1 %1 nats per token, falling.")
                                 .arg(QString::number(data.runs[0].rows.back().gap_add_beta, 'f', 4)));
  QCOMPARE(mainRect(plotOf(*panel))->axis(QCPAxis::atLeft)->label(), QStringLiteral("Gap (nats per token)"));
}

void PanelsTest::gapTrendFollowsTheNumbers() {
  const std::vector<std::pair<std::vector<double>, QString>> cases = {
      {{0.2, 0.1, 0.05, 0.02}, QStringLiteral("falling")},
      {{0.02, 0.05, 0.1, 0.2}, QStringLiteral("rising")},
      {{0.05, 0.05, 0.05, 0.05}, QStringLiteral("level")},
      {{-0.001, -0.002, -0.004, -0.005}, QStringLiteral("falling")}};
  for (const auto& [gaps, word] : cases) {
    PanelData data = fake::oneRun();
    data.runs[0].rows.resize(gaps.size());
    for (std::size_t i = 0; i < gaps.size(); ++i) data.runs[0].rows[i].gap_add_beta = gaps[i];
    const auto panel = shownPanel(QStringLiteral("gap"), data);
    QVERIFY2(panel->caption().contains(QStringLiteral(", ") + word), qPrintable(panel->caption()));
  }
}

void PanelsTest::gapsAtOrBelowZeroHaveAStrip() {
  PanelData data = fake::oneRun();
  data.runs[0].rows[20].gap_add_beta = -0.0004;
  data.runs[0].rows[21].gap_add_beta = 0;
  const auto panel = shownPanel(QStringLiteral("gap"), data);
  QVERIFY2(panel->caption().contains(QStringLiteral("2 evaluations at or below zero drawn in the strip")),
           qPrintable(panel->caption()));

  QCustomPlot* plot = plotOf(*panel);
  const double step = static_cast<double>(data.runs[0].rows[20].step);
  int broken = 0, marked = 0;
  for (int i = 0; i < plot->graphCount(); ++i)
    for (const QCPGraphData& point : *plot->graph(i)->data()) {
      if (!plot->graph(i)->visible() || point.key != step) continue;
      if (std::isnan(point.value)) ++broken;
      if (plot->graph(i)->lineStyle() == QCPGraph::lsNone) {
        ++marked;
        QVERIFY(point.value > 0 && point.value < data.runs[0].rows.back().gap_add_beta);
        QVERIFY(plot->graph(i)->valueAxis()->range().contains(point.value));
      }
    }
  QCOMPARE(broken, 1);
  QCOMPARE(marked, 1);
  QVERIFY(mainRect(plot)->axis(QCPAxis::atLeft)->tickVectorLabels().contains(QStringLiteral("≤ 0")));
  QCOMPARE(panel->table().rows[20][2], QStringLiteral("-0.0004"));

  panel->setOptions({{"log", false}});
  QVERIFY(!panel->caption().contains(QStringLiteral("strip")));
  QVERIFY(mainRect(plot)->axis(QCPAxis::atLeft)->range().lower <= -0.0004);
}

void PanelsTest::gapTogglesByClickAndKey() {
  const auto panel = shownPanel(QStringLiteral("gap"), fake::oneRun());
  panel->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(panel.get()));
  QSignalSpy changed(panel.get(), &Panel::optionsChanged);
  const QCPAxis* axis = mainRect(plotOf(*panel))->axis(QCPAxis::atLeft);
  QCOMPARE(axis->scaleType(), QCPAxis::stLogarithmic);
  QTest::keyClick(panel.get(), Qt::Key_L);
  QCOMPARE(axis->scaleType(), QCPAxis::stLinear);
  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("Logarithmic")), Qt::LeftButton);
  QCOMPARE(axis->scaleType(), QCPAxis::stLogarithmic);
  QCOMPARE(panel->table().columns.size(), 5);
  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("oracle")), Qt::LeftButton);
  QCOMPARE(panel->table().columns.size(), 3);
  QCOMPARE(changed.size(), 3);
}

void PanelsTest::gapCompared() {
  PanelData data = fake::threeRuns();
  data.current = 1;
  const auto panel = shownPanel(QStringLiteral("gap"), data);
  const QString lowest = QString::number(data.runs[0].rows.back().gap_add_beta, 'f', 4);
  QVERIFY2(panel->caption().endsWith(QStringLiteral("; the lowest of 3 runs is at %1.").arg(lowest)),
           qPrintable(panel->caption()));
  const auto* chart = static_cast<Chart*>(plotOf(*panel));
  QCOMPARE(chart->flowLegend()->entries().front().text, QStringLiteral("full"));
  std::set<std::pair<QRgb, int>> styles;
  for (std::size_t i = 0; i < 3; ++i)
    styles.insert({chart->flowLegend()->entries()[i].marker_color.rgb(), chart->flowLegend()->entries()[i].marker});
  QCOMPARE(styles.size(), std::size_t{3});
  const int top = chart->flowLegend()->rect().bottom();
  QVERIFY(top <= mainRect(plotOf(*panel))->top());
}

void PanelsTest::aForkHangsFromItsParent_data() {
  QTest::addColumn<QString>("id");
  for (const char* const id : {"loss", "gap"}) QTest::newRow(id) << id;
}

// A line from the parent's last evaluation before the fork to the fork's first, where both are shown.
void PanelsTest::aForkHangsFromItsParent() {
  QFETCH(QString, id);
  PanelData data;
  data.runs = {fake::run("full", 0, 0.001), fake::run("conv none, from step 650 of full", 1, 0.05)};
  data.runs[0].folder = "/runs/2026-11-30-mamba2-k1-a3f9";
  std::erase_if(data.runs[1].rows, [](const MetricsRow& row) { return row.step < 680; });
  data.runs[1].train_losses.clear();
  const auto branches = [&](const PanelData& shown) {
    const auto panel = shownPanel(id, shown);
    std::vector<std::pair<double, double>> found;
    for (int i = 0; i < plotOf(*panel)->graphCount(); ++i) {
      const QCPGraph* const graph = plotOf(*panel)->graph(i);
      if (graph->visible() && graph->dataCount() == 2 && graph->data()->constBegin()->key >= 600)
        found.emplace_back(graph->data()->constBegin()->key, (graph->data()->constEnd() - 1)->key);
    }
    return found;
  };
  QVERIFY(branches(data).empty());
  data.runs[1].parent = "2026-11-30-mamba2-k1-a3f9";
  QCOMPARE(branches(data), (std::vector<std::pair<double, double>>{{680, 680}}));
  std::erase_if(data.runs[0].rows, [](const MetricsRow& row) { return row.step > 640; });
  QCOMPARE(branches(data), (std::vector<std::pair<double, double>>{{640, 680}}));
  data.runs.erase(data.runs.begin());
  QVERIFY(branches(data).empty());
}

void PanelsTest::gapAxisHoldsTheFloorLine() {
  PanelData data = fake::oneRun();
  data.runs[0].rows.resize(1);  // far above the floor of 0.025
  const auto panel = shownPanel(QStringLiteral("gap"), data);
  const QCPAxis* axis = mainRect(plotOf(*panel))->axis(QCPAxis::atLeft);
  const MetricsRow& row = data.runs[0].rows.back();
  const double floor = row.add_beta_loss - row.oracle_loss;
  QVERIFY(row.gap_add_beta > 5 * floor);
  QVERIFY2(axis->range().contains(floor), qPrintable(QString::number(axis->range().lower)));
}

void PanelsTest::ticksLeaveRoomForEachOther() {
  const auto panel = shownPanel(QStringLiteral("loss"), fake::oneRun());
  for (const int width : {640, 340, 260, 200}) {
    panel->resize(width, 300);
    QTest::qWait(50);
    plotOf(*panel)->replot();
    const QCPAxis* axis = mainRect(plotOf(*panel))->axis(QCPAxis::atBottom);
    const QFontMetricsF metrics(axis->tickLabelFont());
    const QVector<double> ticks = axis->tickVector();
    const QVector<QString> labels = axis->tickVectorLabels();
    double end = -1e9;
    int seen = 0;
    for (int i = 0; i < ticks.size(); ++i) {
      if (!axis->range().contains(ticks[i])) continue;
      const double half = metrics.horizontalAdvance(labels[i]) / 2, middle = axis->coordToPixel(ticks[i]);
      QVERIFY2(middle - half > end, qPrintable(QStringLiteral("%1 at width %2").arg(labels[i]).arg(width)));
      end = middle + half;
      ++seen;
    }
    QVERIFY(seen >= 2);
  }
}

void PanelsTest::referencesOfOneTaskAreNamedOnce() {
  const auto names = [](const PanelData& data, const char* id) {
    const auto panel = shownPanel(QLatin1String(id), data);
    QStringList texts;
    for (QObject* child : plotOf(*panel)->findChildren<QObject*>())
      if (const auto* labels = qobject_cast<QCPLayerable*>(child))
        if (const auto* ends = dynamic_cast<const EndLabels*>(labels))
          for (const EndLabel& label : ends->labels()) texts << label.text;
    texts.sort();
    return texts;
  };
  PanelData data = fake::threeRuns();
  for (MetricsRow& row : data.runs[1].rows) row.add_beta_loss += 1e-4;  // another test set of the same task
  QCOMPARE(names(data, "loss"),
           (QStringList{QStringLiteral("add-1"), QStringLiteral("oracle"), QStringLiteral("uniform")}));
  QCOMPARE(names(data, "gap"), QStringList{QStringLiteral("add-1 − oracle")});
  data.runs[2].config.set("task.order", std::int64_t{2});
  for (MetricsRow& row : data.runs[2].rows) {
    row.add_beta_loss += 0.03;
    row.oracle_loss += 0.02;
  }
  QCOMPARE(names(data, "loss"), (QStringList{QStringLiteral("add-1, order 1"), QStringLiteral("add-1, order 2"),
                                             QStringLiteral("oracle, order 1"), QStringLiteral("oracle, order 2"),
                                             QStringLiteral("uniform")}));
  QCOMPARE(names(data, "gap"),
           (QStringList{QStringLiteral("add-1 − oracle, order 1"), QStringLiteral("add-1 − oracle, order 2")}));
}

void PanelsTest::stepAxisGrowsInSteps() {
  const RunSeries whole = fake::run("full", 0, 0.0007, 2000, 10);
  const auto panel = shownPanel(QStringLiteral("gap"), {});
  std::set<double> uppers, floors;
  for (std::size_t rows = 1; rows <= whole.rows.size(); ++rows) {
    PanelData data = fake::oneRun();
    data.runs[0] = whole;
    data.runs[0].rows.resize(rows);
    data.runs[0].train_losses.clear();
    panel->show(data);
    uppers.insert(mainRect(plotOf(*panel))->axis(QCPAxis::atBottom)->range().upper);
    floors.insert(mainRect(plotOf(*panel))->axis(QCPAxis::atLeft)->range().lower);
  }
  QVERIFY(uppers.size() <= 8);
  QVERIFY(floors.size() <= 10);
  QCOMPARE(*uppers.rbegin(), 2000.0);
}

void PanelsTest::stepHoverReadsTheNearestEvaluation() {
  const PanelData data = fake::oneRun();
  const auto panel = shownPanel(QStringLiteral("gap"), data);
  QCustomPlot* plot = plotOf(*panel);
  const MetricsRow& row = data.runs[0].rows[15];
  const double x = mainRect(plot)->axis(QCPAxis::atBottom)->coordToPixel(static_cast<double>(row.step) + 7);
  moveMouse(plot, {x, double(mainRect(plot)->center().y())});
  const auto* label = plot->findChild<QLabel*>(QStringLiteral("hoverLabel"));
  QVERIFY(label->isVisible());
  QVERIFY2(label->text().contains(QStringLiteral("Step 600")), qPrintable(label->text()));
  QVERIFY(label->text().contains(QString::number(row.gap_add_beta, 'f', 4)));
  moveMouse(plot, {2, 2});
  QVERIFY(!label->isVisible());
}

void PanelsTest::predictionShowsTheChosenSymbol() {
  const auto two = shownPanel(QStringLiteral("prediction"), fake::inspected(fake::prediction(64, 2)));
  QVERIFY(!named<QComboBox>(*two, QStringLiteral("Predicted token"))->isVisible());
  const PredictionData answer = fake::prediction(64, 4);
  const auto four = shownPanel(QStringLiteral("prediction"), fake::inspected(answer));
  auto* box = named<QComboBox>(*four, QStringLiteral("Predicted token"));
  QVERIFY(box->isVisible());
  QCOMPARE(box->count(), 4);
  box->setFocus();
  QTest::keyClick(box, Qt::Key_Down);
  QTest::keyClick(box, Qt::Key_Down);
  QCOMPARE(four->options()["symbol"].get<int>(), 3);
  QCOMPARE(mainRect(plotOf(*four))->axis(QCPAxis::atLeft)->label(), QStringLiteral("P(next token = 3)"));
  for (std::size_t t = 0; t < 64; ++t) {
    QCOMPARE(four->table().rows[t][3].toFloat(), answer.model.data[t * 4 + 3]);
    QCOMPARE(four->table().rows[t][4].toFloat(), answer.add_beta.data[t * 4 + 3]);
  }
}

void PanelsTest::predictionShowsOneContext() {
  PredictionData answer = fake::prediction(100, 2);
  const auto panel = shownPanel(QStringLiteral("prediction"), fake::inspected(answer));
  panel->setOptions({{"context", "0"}});
  const auto zeros = std::count(answer.tokens.begin(), answer.tokens.end(), 0);
  QCOMPARE(static_cast<std::ptrdiff_t>(panel->table().rows.size()), zeros);
  for (const QStringList& row : panel->table().rows) QCOMPARE(row[1], QStringLiteral("0"));
  QVERIFY(panel->caption().contains(QStringLiteral("after 0")));

  answer.order = 2;
  panel->show(fake::inspected(answer));
  QCOMPARE(named<QComboBox>(*panel, QStringLiteral("Context"))->count(), 5);
  panel->setOptions({{"context", "1 0"}});
  for (const QStringList& row : panel->table().rows) {
    const auto t = static_cast<std::size_t>(row[0].toInt());
    QCOMPARE(answer.tokens[t - 1], 0);
    QCOMPARE(answer.tokens[t - 2], 1);
  }
  panel->setOptions({{"context", "1 1 1 1 1 1 1 1 1 1 1 1 1"}});
  QVERIFY(panel->caption().contains(QStringLiteral("does not occur")));
}

void PanelsTest::predictionCaptionIsTrue() {
  const PredictionData answer = fake::prediction(128, 2);
  const auto panel = shownPanel(QStringLiteral("prediction"), fake::inspected(answer));
  double sum = 0, worst = 0;
  int at = 0;
  for (int t = 0; t < 128; ++t) {
    const auto index = static_cast<std::size_t>(2 * t + 1);
    const double difference = std::abs(double(answer.model.data[index]) - double(answer.add_beta.data[index]));
    sum += difference;
    if (difference >= worst) {
      worst = difference;
      at = t + 1;
    }
  }
  QCOMPARE(panel->caption(),
           QStringLiteral("Step 1,240: the model's P(next = 1) differs from that of add-1 by %1 on average over 128 "
                          "positions, at most by %2 at t = %3.")
               .arg(QString::number(sum / 128, 'f', 3), QString::number(worst, 'f', 3), QString::number(at)));
}

void PanelsTest::hoverTellsTheTokenAndOthersLightUp() {
  const auto prediction = shownPanel(QStringLiteral("prediction"), fake::inspected(fake::prediction(128, 2)));
  const auto decay = shownPanel(QStringLiteral("decay"), fake::inspected(fake::decay(128, 1, 1)));
  connect(prediction.get(), &Panel::tokenHovered, decay.get(), &Panel::highlightToken);
  QSignalSpy hovered(prediction.get(), &Panel::tokenHovered);
  QSignalSpy replots(plotOf(*decay), &QCustomPlot::afterReplot);
  const QImage before = plotOf(*decay)->grab().toImage();

  moveMouse(plotOf(*prediction), pixelOfToken(plotOf(*prediction), 37));
  QCOMPARE(hovered.size(), 1);
  QCOMPARE(hovered.takeFirst().front().toInt(), 36);
  moveMouse(plotOf(*prediction), pixelOfToken(plotOf(*prediction), 37) + QPointF(0, 15));
  QCOMPARE(hovered.size(), 0);

  QTest::qWait(30);
  const QImage lit = plotOf(*decay)->grab().toImage();
  QVERIFY(lit != before);
  QCOMPARE(replots.size(), 0);
  const double ratio = lit.devicePixelRatio();
  const QPointF there = pixelOfToken(plotOf(*decay), 37) * ratio, elsewhere = pixelOfToken(plotOf(*decay), 90) * ratio;
  QVERIFY(lit.pixelColor(there.toPoint()) != before.pixelColor(there.toPoint()));
  QCOMPARE(lit.pixelColor(elsewhere.toPoint()), before.pixelColor(elsewhere.toPoint()));

  QEvent leave(QEvent::Leave);
  QCoreApplication::sendEvent(plotOf(*prediction), &leave);
  QCOMPARE(hovered.size(), 1);
  QCOMPARE(hovered.takeFirst().front().toInt(), -1);
  QTest::qWait(30);
  QVERIFY(plotOf(*decay)->grab().toImage() == before);

  decay->highlightToken(5000);
  decay->highlightToken(127);
  decay->highlightToken(-1);
}

void PanelsTest::hoverLabelKeepsClearOfTheCurve() {
  const auto panel = shownPanel(QStringLiteral("decay"), fake::inspected(fake::decay(64, 1, 1)));
  QCustomPlot* plot = plotOf(*panel);
  const auto* label = plot->findChild<QLabel*>(QStringLiteral("hoverLabel"));
  const auto* line = plot->graph(0);
  for (int t = 1; t <= 64; t += 3) {
    moveMouse(plot, pixelOfToken(plot, t));
    QVERIFY(label->isVisible());
    QVERIFY(plot->rect().contains(label->geometry()));
    const auto point = line->data()->at(t - 1);
    QVERIFY(!label->geometry().contains(line->coordsToPixels(point->key, point->value).toPoint()));
  }
}

void PanelsTest::probeAndCheckpointChangeWhatIsWanted() {
  for (const char* id : {"prediction", "decay"}) {
    const auto panel = shownPanel(QString::fromLatin1(id), dataFor(QString::fromLatin1(id)));
    QSignalSpy wants(panel.get(), &Panel::wantsChanged), chosen(panel.get(), &Panel::probeChosen);
    QVERIFY((*panel->wants() == InspectRequest{id, 0, std::nullopt}));
    auto* box = named<QComboBox>(*panel, QStringLiteral("Probe sequence"));
    QCOMPARE(box->count(), static_cast<int>(probe_count));
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Down);
    QCOMPARE(wants.size(), 1);
    QCOMPARE(chosen.size(), 1);
    panel->setCheckpoint(400);
    QVERIFY((*panel->wants() == InspectRequest{id, 1, 400}));
    panel->setCheckpoint(400);
    panel->setProbe(1);
    QCOMPARE(wants.size(), 2);
    panel->setProbe(3);
    QCOMPARE(box->currentIndex(), 3);
    QCOMPARE(chosen.size(), 1);
    panel->setProbe(99);
    QCOMPARE(panel->wants()->probe, 3);
  }
  QVERIFY(!shownPanel(QStringLiteral("loss"), fake::oneRun())->wants());
}

void PanelsTest::decayIsReadableNearOne() {
  const DecayData answer = fake::decay(128, 1, 1);
  const auto panel = shownPanel(QStringLiteral("decay"), fake::inspected(answer));
  QCustomPlot* plot = plotOf(*panel);
  const QCPAxis* axis = mainRect(plot)->axis(QCPAxis::atLeft);
  const auto [least, most] = std::minmax_element(answer.decay.data.begin(), answer.decay.data.end());
  // More is higher, and the data use a good part of the height although all of them lie between 0.99 and 1.
  const double low = axis->coordToPixel(1 - double(*least)), high = axis->coordToPixel(1 - double(*most));
  QVERIFY(*least > 0.98F);
  QVERIFY(high < low - mainRect(plot)->height() / 3.0);
  for (const QString& label : axis->tickVectorLabels())
    QVERIFY2(label.startsWith(QStringLiteral("0.99")) || label == u"1", qPrintable(label));
  for (std::size_t t = 0; t < 128; ++t) QCOMPARE(panel->table().rows[t][4].toFloat(), answer.decay.data[t]);

  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("near 1")), Qt::LeftButton);
  QCOMPARE(panel->options()["scale"].get<std::string>(), std::string("linear"));
  QCOMPARE(axis->range(), QCPRange(0, 1));
  QVERIFY(axis->coordToPixel(double(*most)) < axis->coordToPixel(double(*least)));
}

void PanelsTest::decayOfOneHasItsOwnPlace() {
  DecayData answer = fake::decay(64, 1, 1);
  answer.decay.data[10] = 1;
  const auto panel = shownPanel(QStringLiteral("decay"), fake::inspected(answer));
  const QCPAxis* axis = mainRect(plotOf(*panel))->axis(QCPAxis::atLeft);
  QVERIFY(axis->tickVectorLabels().contains(QStringLiteral("1")));
  const QCPGraph* line = plotOf(*panel)->graph(0);
  for (int t = 0; t < 64; ++t)
    if (t != 10)
      QVERIFY(axis->coordToPixel(line->data()->at(10)->value) < axis->coordToPixel(line->data()->at(t)->value));

  std::fill(answer.decay.data.begin(), answer.decay.data.end(), 1.0F);
  panel->show(fake::inspected(answer));
  QCOMPARE(panel->caption(), QStringLiteral("Step 1,240: aₜ is 1 at every token; the state forgets nothing."));
  std::fill(answer.decay.data.begin(), answer.decay.data.end(), 0.0F);
  panel->show(fake::inspected(answer));
  QVERIFY(panel->hasData());
}

void PanelsTest::decayLinesPerHead() {
  const auto panel = shownPanel(QStringLiteral("decay"), fake::inspected(fake::decay(32, 2, 3)));
  const auto& entries = static_cast<Chart*>(plotOf(*panel))->flowLegend()->entries();
  QCOMPARE(entries[0].text, QStringLiteral("layer 1, head 1"));
  QCOMPARE(entries[5].text, QStringLiteral("layer 2, head 3"));
  QCOMPARE(panel->table().rows.size(), std::size_t{32 * 6});
  QVERIFY(panel->caption().contains(QStringLiteral("over 6 heads")));
}

void PanelsTest::switchTokensAreMarked() {
  DecayData answer = fake::decay(400, 1, 1);
  for (const std::size_t t : {std::size_t{30}, std::size_t{31}, std::size_t{300}}) {
    answer.tokens[t] = 2;
    answer.decay.data[t] = 0.01F * static_cast<float>(t == 300 ? 4 : 1);
  }
  PanelData data = fake::inspected(answer);
  QVERIFY(!data.runs[0].config.set("task.kind", std::string("switching")));
  const auto panel = shownPanel(QStringLiteral("decay"), data);
  auto* const chart = static_cast<Chart*>(plotOf(*panel));
  const LegendEntry& entry = chart->flowLegend()->entries().back();
  QCOMPARE(entry.text, QStringLiteral("switch token 2"));
  QCOMPARE(entry.marker_color, Theme().switchColor());

  std::vector<double> marked;
  for (int i = 0; i < chart->graphCount(); ++i) {
    const QCPGraph* graph = chart->graph(i);
    if (graph->scatterStyle().brush().color() != Theme().switchColor()) continue;
    for (const QCPGraphData& point : *graph->data()) marked.push_back(point.key);
  }
  QCOMPARE(marked, (std::vector<double>{31, 32, 301}));

  double elsewhere = 0;
  for (std::size_t t = 0; t < 400; ++t)
    if (answer.tokens[t] != 2) elsewhere += double{answer.decay.data[t]} / 397;
  const PanelTable table = panel->table();
  QCOMPARE(table.columns[5], QStringLiteral("is_switch"));
  for (std::size_t t = 0; t < 400; ++t) {
    QCOMPARE(table.rows[t][5], answer.tokens[t] == 2 ? QStringLiteral("1") : QStringLiteral("0"));
    QVERIFY(std::abs(table.rows[t][6].toDouble() - 0.02) < 1e-6);
    QVERIFY(std::abs(table.rows[t][7].toDouble() - elsewhere) < 1e-6);
  }
  QVERIFY2(panel->caption().contains(QStringLiteral("on average at 3 switch tokens")), qPrintable(panel->caption()));

  const auto prediction = shownPanel(QStringLiteral("prediction"), fake::inspected(fake::prediction(128, 3)));
  const auto names = [](const Panel& of) {
    QStringList texts;
    for (const LegendEntry& shown : static_cast<Chart*>(plotOf(of))->flowLegend()->entries()) texts << shown.text;
    return texts;
  };
  QVERIFY(names(*prediction).contains(QStringLiteral("add-1")));
  data.inspected = nlohmann::json(fake::prediction(128, 3));
  prediction->show(data);
  QVERIFY(names(*prediction).contains(QStringLiteral("Bayes")));
  QVERIFY(names(*prediction).contains(QStringLiteral("switch token 2")));
  QVERIFY(prediction->caption().contains(QStringLiteral("differs from that of Bayes by")));

  const auto loss = shownPanel(QStringLiteral("loss"), data);
  QVERIFY(loss->caption().contains(QStringLiteral("above Bayes")));
}

void PanelsTest::filtersMapAndStemsShowTheSameNumbers() {
  const FilterData answer = fake::filters(2, 3);
  const auto panel = shownPanel(QStringLiteral("filters"), fake::inspected(answer));
  QCOMPARE(plotOf(*panel)->axisRectCount(), 4);
  const auto rows = panel->table().rows;
  QCOMPARE(rows.size(), std::size_t{(16 + 8 + 8) * (3 + 1)});
  QCOMPARE(rows[0], (QStringList{QStringLiteral("1"), QStringLiteral("x"), QStringLiteral("0"), QStringLiteral("-2"),
                                 rows[0][4]}));
  QCOMPARE(rows[2][3], QStringLiteral("0"));
  QCOMPARE(rows[3][3], QStringLiteral("bias"));
  QCOMPARE(rows[1][4].toFloat(), answer.layers[0][0].taps.data[1]);

  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("stems")), Qt::LeftButton);
  QVERIFY(panel->table().rows == rows);
  QCustomPlot* plot = plotOf(*panel);
  QCOMPARE(plot->axisRectCount(), 3);
  int stems = 0;
  for (int i = 0; i < plot->graphCount(); ++i) {
    QCOMPARE(plot->graph(i)->lineStyle(), QCPGraph::lsImpulse);
    stems += plot->graph(i)->dataCount();
  }
  QCOMPARE(stems, (16 + 8 + 8) * (3 + 1));

  panel->setOptions({{"layer", 1}, {"view", "map"}});
  QCOMPARE(panel->table().rows[0][4].toFloat(), answer.layers[1][0].taps.data[0]);
  QVERIFY(panel->caption().contains(QStringLiteral("layer 2")));

  FilterData only_x = fake::filters(1, 2);
  only_x.layers[0].resize(1);
  panel->show(fake::inspected(only_x));
  QTest::qWait(30);
  QCOMPARE(plot->axisRectCount(), 2);

  moveMouse(plot, plot->axisRects().front()->rect().center());
  QVERIFY(plot->findChild<QLabel*>(QStringLiteral("hoverLabel"))->text().contains(QStringLiteral("x, channel")));
}

void PanelsTest::filtersWithoutConvolutionSaySo() {
  FilterData none;
  none.step = 10;
  none.layers.emplace_back();
  const auto panel = shownPanel(QStringLiteral("filters"), fake::inspected(none));
  QVERIFY(!panel->hasData());
  QCOMPARE(panel->caption(), QStringLiteral("This model has no convolution."));
  PanelData unasked = fake::oneRun();
  unasked.runs[0].config.set("model.conv", std::string("none"));
  panel->show(unasked);
  QCOMPARE(panel->caption(), QStringLiteral("This model has no convolution."));
  panel->show(fake::inspected(fake::filters(1, 2)));
  QVERIFY(panel->hasData());
}

void PanelsTest::whatAKindOfModelHasNotIsSaid() {
  PanelData data = fake::oneRun();
  data.runs[0].config.set("model.kind", std::string("transformer"));
  QCOMPARE(shownPanel(QStringLiteral("decay"), data)->caption(),
           QStringLiteral("A transformer has no decay factors: attention reads every token so far and forgets none."));
  QCOMPARE(shownPanel(QStringLiteral("filters"), data)->caption(), QStringLiteral("This model has no convolution."));

  FilterData of_attention = fake::filters(1, 2);
  of_attention.layers[0].resize(1);
  of_attention.layers[0][0].name = "K";
  of_attention.layers[0][0].bias = {{0}, {}};
  data.runs[0].config.set("model.conv_qkv", std::string("K"));
  data.inspected = of_attention;
  const auto filters = shownPanel(QStringLiteral("filters"), data);
  QVERIFY(filters->hasData());
  QCOMPARE(filters->table().rows.size(), std::size_t{16 * 2});
  QCOMPARE(filters->table().rows[0][1], QStringLiteral("K"));

  data = fake::oneRun();
  data.runs[0].config.set("model.kind", std::string("ngram"));
  for (const char* id : {"decay", "filters"}) {
    const auto panel = shownPanel(QLatin1String(id), data);
    QVERIFY(!panel->hasData());
    QVERIFY2(panel->caption().startsWith(QStringLiteral("An n-gram estimator has no ")), id);
  }
}

void PanelsTest::filtersSliderReplaysCheckpoints() {
  const auto panel = shownPanel(QStringLiteral("filters"), fake::inspected(fake::filters(1, 2)));
  auto* slider = named<QSlider>(*panel, QStringLiteral("Checkpoint"));
  QVERIFY(!slider->isEnabled());
  panel->setCheckpoints({0, 100, 200});
  QVERIFY(slider->isEnabled());
  QCOMPARE(slider->value(), 3);
  QSignalSpy chosen(panel.get(), &Panel::checkpointChosen);
  slider->setFocus();
  QTest::keyClick(slider, Qt::Key_Left);
  QCOMPARE(chosen.size(), 1);
  QVERIFY((panel->wants()->at == std::optional<std::int64_t>(200)));
  QTest::keyClick(slider, Qt::Key_Home);
  QVERIFY((panel->wants()->at == std::optional<std::int64_t>(0)));
  panel->setCheckpoints({0, 100, 200, 300});
  QCOMPARE(slider->value(), 0);
  QTest::keyClick(slider, Qt::Key_End);
  QVERIFY(!panel->wants()->at);
  panel->setCheckpoint(100);
  QCOMPARE(slider->value(), 1);
  QCOMPARE(chosen.size(), 3);
}

QTEST_MAIN(PanelsTest)
#include "panels_test.moc"
