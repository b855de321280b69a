// The theory panel: the bound by its formula, runs where their bits put them, and what each view asks for.

#include <cmath>

#include "core/contract/lower_bound.h"
#include "panel_fixture.h"

using namespace mambarium;

class TheoryPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void boundFollowsTheFormula();
  void runsStandAtTheirBits();
  void slidersMoveByKeys();
  void eachViewAsksForItsOwn();
  void quantisationSaysHowManyBitsSuffice();
  void constructionStaysBelowThePromise();
  void anAnswerForAnotherViewIsNotDrawn();
};

void TheoryPanelTest::boundFollowsTheFormula() {
  const auto panel = shownPanel(QStringLiteral("theory"), fake::threeRuns());
  panel->setOptions({{"epsilon", 0.05}});
  int orders = 0;
  for (const QStringList& row : panel->table().rows) {
    if (row[0] != u"lower bound") continue;
    ++orders;
    const double k = row[2].toDouble();
    QVERIFY(std::abs(row[6].toDouble() - std::pow(2, k) * (1 - 0.15) * std::log2(20)) < 1e-9);
  }
  QCOMPARE(orders, 10);
  const QCPGraph* line = plotOf(*panel)->graph(0);
  QCOMPARE(line->data()->at(3)->key, 4.0);
  QCOMPARE(line->data()->at(3)->value, lower_bound_bits(2, 4, 0.05));
  QCOMPARE(line->valueAxis()->scaleType(), QCPAxis::stLogarithmic);
}

void TheoryPanelTest::runsStandAtTheirBits() {
  PanelData data = fake::threeRuns();
  data.runs[1].config.set("task.order", std::int64_t{3});
  const auto panel = shownPanel(QStringLiteral("theory"), data);
  panel->setOptions({{"bits", 8}});
  const auto numbers = static_cast<double>(*recurrent_state_numbers(data.runs[1].config));
  bool found = false;
  for (const QCPGraph* graph : visibleGraphs(*panel))
    if (graph->lineStyle() == QCPGraph::lsNone && graph->data()->at(0)->key == 3) {
      QCOMPARE(graph->data()->at(0)->value, 8 * numbers);
      found = true;
    }
  QVERIFY(found);
  QVERIFY2(panel->caption().contains(QStringLiteral("within epsilon = 0.01 of add-1 on a chain of order 1")) &&
               panel->caption().contains(QStringLiteral("at least 12.9 bits")) &&
               panel->caption().contains(QStringLiteral(" of 8 bits")),
           qPrintable(panel->caption()));
}

void TheoryPanelTest::slidersMoveByKeys() {
  const auto panel = shownPanel(QStringLiteral("theory"), fake::oneRun());
  auto* epsilon = named<QSlider>(*panel, QStringLiteral("epsilon"));
  auto* bits = named<QSlider>(*panel, QStringLiteral("bits"));
  QVERIFY(epsilon->isVisible() && bits->isVisible());
  QVERIFY(!named<QSlider>(*panel, QStringLiteral("beta"))->isVisible());
  epsilon->setFocus();
  QTest::keyClick(epsilon, Qt::Key_Left);
  QCOMPARE(panel->options()["epsilon"].get<double>(), 0.0079);
  QTest::keyClick(epsilon, Qt::Key_Right);
  QCOMPARE(panel->options()["epsilon"].get<double>(), 0.01);
  bits->setFocus();
  QTest::keyClick(bits, Qt::Key_Home);
  QCOMPARE(panel->options()["bits"].get<int>(), 1);
  QVERIFY2(panel->caption().contains(QStringLiteral(" of 1 bit, ")), qPrintable(panel->caption()));
}

void TheoryPanelTest::eachViewAsksForItsOwn() {
  const auto panel = shownPanel(QStringLiteral("theory"), fake::oneRun());
  QVERIFY(!panel->wants());
  auto* box = named<QComboBox>(*panel, QStringLiteral("View"));
  box->setFocus();
  QTest::keyClick(box, Qt::Key_Down);
  InspectRequest wanted;
  wanted.what = "quantisation";
  QVERIFY(panel->wants() == wanted);
  QTest::keyClick(box, Qt::Key_Down);
  panel->setOptions({{"beta", 0.5}, {"epsilon", 0.1}});
  wanted.what = "theorem4";
  wanted.beta = 0.5;
  wanted.epsilon = 0.1;
  QVERIFY(panel->wants() == wanted);
}

void TheoryPanelTest::quantisationSaysHowManyBitsSuffice() {
  QuantisationData answer = fake::quantisation();
  const PanelData data = fake::inspected(answer);
  const auto panel = shownPanel(QStringLiteral("theory"), data);
  panel->setOptions({{"view", "quantisation"}});
  std::int64_t enough = 32;
  for (std::size_t i = answer.bits.size() - 1; i-- > 0;) {
    if (answer.gap[i] - answer.gap.back() > std::hypot(answer.standard_error[i], answer.standard_error.back())) break;
    enough = answer.bits[i];
  }
  QVERIFY(enough > 2 && enough < 16);
  QVERIFY2(panel->caption().contains(QStringLiteral("from %1 bits a number on").arg(enough)),
           qPrintable(panel->caption()));
  QVERIFY(panel->caption().contains(QStringLiteral("160 numbers")));
  QCOMPARE(panel->table().rows.size(), answer.bits.size());
  for (std::size_t i = 0; i < answer.bits.size(); ++i) QCOMPARE(panel->table().rows[i][2].toDouble(), answer.gap[i]);
  const QCPAxis* axis = mainRect(plotOf(*panel))->axis(QCPAxis::atLeft);
  QTRY_VERIFY(axis->tickVectorLabels().contains(QStringLiteral("≤ 0")));
}

void TheoryPanelTest::constructionStaysBelowThePromise() {
  const auto panel = shownPanel(QStringLiteral("theory"), fake::inspected(fake::theorem(0.05, 2)));
  panel->setOptions({{"view", "construction"}});
  QVERIFY2(panel->caption().contains(QStringLiteral("below the promised 0.05 by a factor of")),
           qPrintable(panel->caption()));
  QCOMPARE(panel->table().rows.size(), std::size_t{4});
  TheoremData broken = fake::theorem(0.05, 2);
  broken.random_long.largest = 0.2;
  panel->show(fake::inspected(broken));
  QVERIFY2(panel->caption().endsWith(QStringLiteral("above the promised 0.05.")), qPrintable(panel->caption()));
}

void TheoryPanelTest::anAnswerForAnotherViewIsNotDrawn() {
  const auto panel = shownPanel(QStringLiteral("theory"), fake::inspected(fake::theorem()));
  QVERIFY(panel->hasData());
  panel->setOptions({{"view", "quantisation"}});
  QVERIFY(!panel->hasData());
  QVERIFY(panel->caption().contains(QStringLiteral("being measured")));
  panel->setOptions({{"view", "bound"}});
  QVERIFY(panel->hasData());
}

QTEST_MAIN(TheoryPanelTest)
#include "theory_panel_test.moc"
