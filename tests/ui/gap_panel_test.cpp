// The gap panel: signs, strips, ranges and the comparison of runs; and what both panels over training share.

#include <cmath>
#include <set>

#include "panel_fixture.h"

using namespace mambarium;

class GapPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void gapSaysWhatItShows();
  void aPredictorThatIsNotKnownIsSaid();
  void gapTrendFollowsTheNumbers();
  void gapsAtOrBelowZeroHaveAStrip();
  void gapTogglesByClickAndKey();
  void gapCompared();
  void gapAxisHoldsTheFloorLine();
  void aForkHangsFromItsParent_data();
  void aForkHangsFromItsParent();
  void stepAxisGrowsInSteps();
  void stepHoverReadsTheNearestEvaluation();
  void exportButtonAsks();
};

void GapPanelTest::gapSaysWhatItShows() {
  const PanelData data = fake::oneRun();
  const auto panel = shownPanel(QStringLiteral("gap"), data);
  QCOMPARE(panel->caption(), QStringLiteral("Step 1,240 of 2,000: gap to add-1 %1 nats per token, falling.")
                                 .arg(QString::number(data.runs[0].rows.back().gap_add_beta, 'f', 4)));
  QCOMPARE(mainRect(plotOf(*panel))->axis(QCPAxis::atLeft)->label(), QStringLiteral("Gap (nats per token)"));
}

void GapPanelTest::aPredictorThatIsNotKnownIsSaid() {
  PanelData data = fake::oneRun();
  data.runs[0].config.set("task.kind", "decoding");
  data.runs[0].config.set("task.recording", "windows");
  for (MetricsRow& row : data.runs[0].rows)
    row.add_beta_loss = row.oracle_loss = row.gap_add_beta = row.gap_oracle = std::nan("");
  QCOMPARE(shownPanel(QStringLiteral("gap"), data)->caption(),
           QStringLiteral("Step 1,240 of 2,000: the best possible predictor, ideal decoder, is not known."));
  QCOMPARE(shownPanel(QStringLiteral("loss"), data)->caption(),
           QStringLiteral("Step 1,240 of 2,000: test loss %1 nats per window.")
               .arg(QString::number(data.runs[0].rows.back().test_loss, 'f', 4)));
}

void GapPanelTest::gapTrendFollowsTheNumbers() {
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

void GapPanelTest::gapsAtOrBelowZeroHaveAStrip() {
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

void GapPanelTest::gapTogglesByClickAndKey() {
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

void GapPanelTest::gapCompared() {
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

void GapPanelTest::gapAxisHoldsTheFloorLine() {
  PanelData data = fake::oneRun();
  data.runs[0].rows.resize(1);  // far above the floor of 0.025
  const auto panel = shownPanel(QStringLiteral("gap"), data);
  const QCPAxis* axis = mainRect(plotOf(*panel))->axis(QCPAxis::atLeft);
  const MetricsRow& row = data.runs[0].rows.back();
  const double floor = row.add_beta_loss - row.oracle_loss;
  QVERIFY(row.gap_add_beta > 5 * floor);
  QVERIFY2(axis->range().contains(floor), qPrintable(QString::number(axis->range().lower)));
}

void GapPanelTest::aForkHangsFromItsParent_data() {
  QTest::addColumn<QString>("id");
  for (const char* const id : {"loss", "gap"}) QTest::newRow(id) << id;
}

// A line from the parent's last evaluation before the fork to the fork's first, where both are shown.
void GapPanelTest::aForkHangsFromItsParent() {
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

void GapPanelTest::stepAxisGrowsInSteps() {
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

void GapPanelTest::stepHoverReadsTheNearestEvaluation() {
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

void GapPanelTest::exportButtonAsks() {
  const auto panel = shownPanel(QStringLiteral("gap"), fake::oneRun());
  QSignalSpy asked(panel.get(), &Panel::exportRequested);
  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("Export")), Qt::LeftButton);
  QCOMPARE(asked.size(), 1);
}

QTEST_MAIN(GapPanelTest)
#include "gap_panel_test.moc"
