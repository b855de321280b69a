// Runs as curves: who belongs together, means and deviations against sums by hand, differences at common steps.
#include "ui/plots/run_curves.h"

#include <QTest>
#include <cmath>

#include "panel_fixture.h"

using namespace mambarium;

class RunCurvesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void groupsDifferInSeedOnly();
  void meansAreOverCommonSteps();
  void differencesAreRowByRow();
  void ofMeansTheGroupIsSubtracted();
  void bothPanelsShowMeans_data();
  void bothPanelsShowMeans();
  void choicesAreForSeveralRuns();
  void aDifferenceOfGapsIsLinear();
};

void RunCurvesTest::groupsDifferInSeedOnly() {
  PanelData data = fake::seedsAndAnother();
  QVERIFY(seedGroups(data.runs) == (std::vector<std::vector<std::size_t>>{{0, 1, 2}, {3}}));
  data.runs[1].config.set("training.lr", 1e-3);
  QVERIFY(seedGroups(data.runs) == (std::vector<std::vector<std::size_t>>{{0, 2}, {1}, {3}}));
  data.runs[2].parent = "full";
  QVERIFY(seedGroups(data.runs) == (std::vector<std::vector<std::size_t>>{{0}, {1}, {2}, {3}}));
  // A setting without effect tells nobody apart.
  PanelData other = fake::seedsAndAnother();
  other.runs[0].config.set("task.p_switch", 0.3);
  QVERIFY(!other.runs[0].config.applies("task.p_switch"));
  QCOMPARE(seedGroups(other.runs).size(), std::size_t{2});
}

void RunCurvesTest::meansAreOverCommonSteps() {
  const PanelData data = fake::seedsAndAnother();
  RunCurves curves;
  curves.update(data.runs, {true, {}});
  QCOMPARE(curves.curves().size(), std::size_t{2});
  const RunCurve& mean = curves.curves()[0];
  QCOMPARE(mean.run->title, std::string("full"));
  QCOMPARE(mean.run->rows.back().step, std::int64_t{800});
  QCOMPARE(mean.run->train_losses.back().first, std::int64_t{800});
  for (std::size_t i = 0; i < mean.run->rows.size(); ++i) {
    const double a = data.runs[0].rows[i].test_loss, b = data.runs[1].rows[i].test_loss,
                 c = data.runs[2].rows[i].test_loss, middle = (a + b + c) / 3;
    const double deviation =
        std::sqrt(((a - middle) * (a - middle) + (b - middle) * (b - middle) + (c - middle) * (c - middle)) / 2);
    QVERIFY(std::abs(mean.run->rows[i].test_loss - middle) < 1e-15);
    QVERIFY(std::abs(mean.deviations[i].test_loss - deviation) < 1e-12);
  }
  const RunCurve& alone = curves.curves()[1];
  QCOMPARE(alone.run->rows.size(), data.runs[3].rows.size());
  QCOMPARE(alone.run->rows[4].gap_add_beta, data.runs[3].rows[4].gap_add_beta);
  QVERIFY(std::isnan(alone.deviations[4].gap_add_beta));
}

void RunCurvesTest::differencesAreRowByRow() {
  PanelData data = fake::seedsAndAnother();
  data.runs[3].rows.erase(data.runs[3].rows.begin() + 5);
  RunCurves curves;
  curves.update(data.runs, {false, data.runs[0].folder});
  QCOMPARE(curves.reference()->title, data.runs[0].title);
  QVERIFY(!curves.curveOf(0));
  const RunCurve* other = curves.curveOf(3);
  QVERIFY(other);
  QCOMPARE(other->run->rows.size(), data.runs[0].rows.size() - 1);
  QCOMPARE(other->run->rows[5].step, data.runs[0].rows[6].step);
  QCOMPARE(other->run->rows[5].test_loss, data.runs[3].rows[5].test_loss - data.runs[0].rows[6].test_loss);
  QCOMPARE(other->run->train_losses[7].second,
           data.runs[3].train_losses[7].second - data.runs[0].train_losses[7].second);
  curves.update(data.runs, {false, "somewhere else"});
  QVERIFY(!curves.reference());
  QCOMPARE(curves.curveOf(3)->run, &data.runs[3]);
}

void RunCurvesTest::ofMeansTheGroupIsSubtracted() {
  const PanelData data = fake::seedsAndAnother();
  RunCurves curves;
  curves.update(data.runs, {true, data.runs[1].folder});
  QCOMPARE(curves.curves().size(), std::size_t{1});
  const RunSeries& rest = *curves.curves()[0].run;
  QCOMPARE(rest.title, std::string("no convolution"));
  QCOMPARE(rest.rows.back().step, std::int64_t{800});
  const double mean =
      (data.runs[0].rows[3].gap_oracle + data.runs[1].rows[3].gap_oracle + data.runs[2].rows[3].gap_oracle) / 3;
  QVERIFY(std::abs(rest.rows[3].gap_oracle - (data.runs[3].rows[3].gap_oracle - mean)) < 1e-15);
}

void RunCurvesTest::bothPanelsShowMeans_data() {
  QTest::addColumn<QString>("id");
  for (const char* id : {"loss", "gap"}) QTest::newRow(id) << QString::fromLatin1(id);
}

void RunCurvesTest::bothPanelsShowMeans() {
  QFETCH(QString, id);
  const PanelData data = fake::seedsAndAnother();
  const auto panel = shownPanel(id, data);
  auto* box = named<QComboBox>(*panel, QStringLiteral("Curves of"));
  QVERIFY(box->isVisible());
  box->setFocus();
  QTest::keyClick(box, Qt::Key_Down);
  QCOMPARE(panel->options()["curves"].get<std::string>(), std::string("means"));
  QVERIFY2(legendTexts(*panel).contains(QStringLiteral("full, mean of 3 seeds")),
           qPrintable(legendTexts(*panel).join('|')));
  QVERIFY(legendTexts(*panel).contains(QStringLiteral("no convolution, mean of 1 seed")));
  QVERIFY2(panel->caption().contains(QStringLiteral("of full, mean over 3 seeds")), qPrintable(panel->caption()));
  QVERIFY2(panel->caption().contains(QStringLiteral("one standard deviation")), qPrintable(panel->caption()));
  int bands = 0;
  for (const QCPGraph* graph : visibleGraphs(*panel)) bands += graph->channelFillGraph() ? 1 : 0;
  QCOMPARE(bands, 1);
  const PanelTable table = panel->table();
  QVERIFY(table.columns.contains(QStringLiteral("standard_deviation")));
  for (const QStringList& row : table.rows) QCOMPARE(row.size(), table.columns.size());

  auto* minus = named<QComboBox>(*panel, QStringLiteral("subtracted"));
  minus->setFocus();
  QTest::keyClick(minus, Qt::Key_End);
  QCOMPARE(panel->options()["minus"].get<std::string>(), data.runs[3].folder);
  QVERIFY2(panel->caption().contains(QStringLiteral("minus the mean of no convolution")), qPrintable(panel->caption()));
  QVERIFY(mainRect(plotOf(*panel))->axis(QCPAxis::atLeft)->label().contains(QStringLiteral("difference")));
  const PanelTable differences = panel->table();
  QCOMPARE(differences.rows[0].back(), QStringLiteral("no convolution"));
  const PanelData again = panel_data_from_recipe(nlohmann::json::parse(to_recipe_json(data).dump()));
  const auto redrawn = shownPanel(id, again);
  redrawn->setOptions(panel->options());
  QVERIFY(redrawn->table().rows == differences.rows);
  QCOMPARE(redrawn->caption(), panel->caption());
}

void RunCurvesTest::choicesAreForSeveralRuns() {
  const auto panel = shownPanel(QStringLiteral("gap"), fake::oneRun());
  QVERIFY(!named<QComboBox>(*panel, QStringLiteral("Curves of"))->isVisible());
  panel->show(fake::seedsAndAnother());
  QVERIFY(named<QComboBox>(*panel, QStringLiteral("Curves of"))->isVisible());
  QCOMPARE(named<QComboBox>(*panel, QStringLiteral("subtracted"))->count(), 5);
}

void RunCurvesTest::aDifferenceOfGapsIsLinear() {
  const PanelData data = fake::seedsAndAnother();
  const auto panel = shownPanel(QStringLiteral("gap"), data);
  panel->setOptions({{"minus", data.runs[3].folder}});
  const QCPAxis* axis = mainRect(plotOf(*panel))->axis(QCPAxis::atLeft);
  QCOMPARE(axis->scaleType(), QCPAxis::stLinear);
  QVERIFY(axis->range().lower < -0.04);
  QVERIFY(!named<QToolButton>(*panel, QStringLiteral("Logarithmic"))->isEnabled());
  QVERIFY(!panel->table().columns.contains(QStringLiteral("gap_oracle_nats_per_token")));
  panel->setOptions({{"minus", ""}});
  QCOMPARE(axis->scaleType(), QCPAxis::stLogarithmic);
}

QTEST_MAIN(RunCurvesTest)
#include "run_curves_test.moc"
