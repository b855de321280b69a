// The decay panel: readable near 1, switch tokens apart.

#include <cmath>
#include <map>

#include "panel_fixture.h"

using namespace mambarium;

class DecayPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void decayIsReadableNearOne();
  void decayOfOneHasItsOwnPlace();
  void whatIsNoNumberIsLeftOut();
  void decayLinesPerHead();
  void switchTokensAreMarked();
  void hoverLabelKeepsClearOfTheCurve();
  void horizonIsTheSameCurveReadOtherwise();
  void histogramHoldsEveryToken();
  void histogramTellsSwitchesApart();
};

void DecayPanelTest::decayIsReadableNearOne() {
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

void DecayPanelTest::decayOfOneHasItsOwnPlace() {
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

void DecayPanelTest::whatIsNoNumberIsLeftOut() {
  DecayData answer = fake::decay(64, 1, 1), broken = answer;
  std::fill(answer.decay.data.begin(), answer.decay.data.end(), 0.99F);
  broken.decay.data = answer.decay.data;
  for (const std::size_t t : {std::size_t{0}, std::size_t{20}, std::size_t{63}}) broken.decay.data[t] = NAN;
  for (const char* view : {"factor", "horizon", "histogram"}) {
    const auto panel = shownPanel(QStringLiteral("decay"), fake::inspected(broken));
    panel->setOptions({{"view", view}, {"scale", "log"}});
    QVERIFY2(panel->caption().contains(view == std::string("horizon") ? QStringLiteral("median 100;")
                                                                      : QStringLiteral("0.990")),
             qPrintable(panel->caption()));
    QVERIFY2(panel->caption().endsWith(QStringLiteral("; 3 of 64 factors are not numbers.")),
             qPrintable(panel->caption()));
    QVERIFY(!panel->table().rows.empty());
    answer.decay.data.assign(64, NAN);
    panel->show(fake::inspected(answer));
    QCOMPARE(panel->caption(), QStringLiteral("Step 1,240: aₜ is not a number at any token."));
    moveMouse(plotOf(*panel), mainRect(plotOf(*panel))->rect().center());
  }
}

void DecayPanelTest::decayLinesPerHead() {
  const auto panel = shownPanel(QStringLiteral("decay"), fake::inspected(fake::decay(32, 2, 3)));
  const auto& entries = static_cast<Chart*>(plotOf(*panel))->flowLegend()->entries();
  QCOMPARE(entries[0].text, QStringLiteral("layer 1, head 1"));
  QCOMPARE(entries[5].text, QStringLiteral("layer 2, head 3"));
  QCOMPARE(panel->table().rows.size(), std::size_t{32 * 6});
  QVERIFY(panel->caption().contains(QStringLiteral("over 6 heads")));
}

void DecayPanelTest::switchTokensAreMarked() {
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

void DecayPanelTest::hoverLabelKeepsClearOfTheCurve() {
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

void DecayPanelTest::horizonIsTheSameCurveReadOtherwise() {
  DecayData answer = fake::decay(64, 1, 1);
  answer.decay.data[7] = 0.995F;
  answer.decay.data[9] = 1;
  const auto panel = shownPanel(QStringLiteral("decay"), fake::inspected(answer));
  const QSharedPointer<QCPGraphDataContainer> before = plotOf(*panel)->graph(0)->data();
  const double drawn = before->at(7)->value;
  auto* box = named<QComboBox>(*panel, QStringLiteral("View"));
  box->setFocus();
  QTest::keyClick(box, Qt::Key_Down);
  QCOMPARE(panel->options()["view"].get<std::string>(), std::string("horizon"));
  QCOMPARE(plotOf(*panel)->graph(0)->data()->at(7)->value, drawn);
  const QCPAxis* axis = mainRect(plotOf(*panel))->axis(QCPAxis::atLeft);
  QTRY_VERIFY(axis->tickVectorLabels().contains(QStringLiteral("∞")));
  QVERIFY2(axis->label().contains(QStringLiteral("1/(1 − aₜ)")), qPrintable(axis->label()));
  QVERIFY(axis->tickVectorLabels().contains(QStringLiteral("100")));
  const PanelTable table = panel->table();
  QCOMPARE(table.columns.back(), QStringLiteral("horizon_tokens"));
  QVERIFY(std::abs(table.rows[7].back().toDouble() - 1 / (1 - double{0.995F})) < 1e-9);
  QCOMPARE(table.rows[9].back(), QStringLiteral("inf"));
  QVERIFY2(panel->caption().contains(QStringLiteral("and ∞ tokens")), qPrintable(panel->caption()));
}

void DecayPanelTest::histogramHoldsEveryToken() {
  DecayData answer = fake::decay(128, 1, 2);
  answer.decay.data[5] = 1;
  answer.decay.data[6] = 0;
  const auto panel = shownPanel(QStringLiteral("decay"), fake::inspected(answer));
  for (const char* scale : {"log", "linear"}) {
    panel->setOptions({{"view", "histogram"}, {"scale", scale}});
    std::map<QString, std::pair<int, double>> heads;
    for (const QStringList& row : panel->table().rows) {
      auto& [count, share] = heads[row[1]];
      count += row[5].toInt();
      share += row[6].toDouble();
      int inside = 0;
      const auto offset = row[1] == u"1" ? 0 : 128;
      for (int t = 0; t < 128; ++t) {
        const double a = double{answer.decay.data[static_cast<std::size_t>(offset + t)]};
        // The outermost bins hold what lies on their far edge too.
        if (row[3] == row[4] ? a >= 1 : a >= row[3].toDouble() - 1e-12 && a <= row[4].toDouble() + 1e-12) ++inside;
      }
      QVERIFY2(row[5].toInt() <= inside, qPrintable(row.join(u' ')));
    }
    QCOMPARE(heads.size(), std::size_t{2});
    for (const auto& [head, sums] : heads) {
      QCOMPARE(sums.first, 128);
      QVERIFY(std::abs(sums.second - 1) < 1e-12);
    }
  }
  QVERIFY2(panel->caption().contains(QStringLiteral("median of aₜ is")), qPrintable(panel->caption()));
  QVERIFY(panel->caption().contains(QStringLiteral("at 128 tokens, over 2 heads")));
  panel->highlightToken(3);
}

void DecayPanelTest::histogramTellsSwitchesApart() {
  DecayData answer = fake::decay(200, 1, 1);
  for (const std::size_t t : {std::size_t{30}, std::size_t{100}, std::size_t{150}}) {
    answer.tokens[t] = 2;
    answer.decay.data[t] = 0.005F;
  }
  PanelData data = fake::inspected(answer);
  data.runs[0].config.set("task.kind", std::string("switching"));
  const auto panel = shownPanel(QStringLiteral("decay"), data);
  panel->setOptions({{"view", "histogram"}});
  QVERIFY2(
      legendTexts(*panel) == (QStringList{QStringLiteral("elsewhere (197)"), QStringLiteral("at switch tokens (3)")}),
      qPrintable(legendTexts(*panel).join('|')));
  int switches = 0;
  for (const QStringList& row : panel->table().rows) {
    if (row[2] != u"switch" || row[5] == u"0") continue;
    switches += row[5].toInt();
    QVERIFY(row[3].toDouble() <= 0.005 && 0.005 <= row[4].toDouble() + 0.05);
  }
  QCOMPARE(switches, 3);
  QVERIFY2(panel->caption().contains(QStringLiteral("0.005 at 3 switch tokens and 0.99")),
           qPrintable(panel->caption()));
  moveMouse(plotOf(*panel), mainRect(plotOf(*panel))->rect().center());
  QVERIFY(plotOf(*panel)->findChild<QLabel*>(QStringLiteral("hoverLabel"))->text().contains(QStringLiteral("of 197")));
  panel->setOptions({{"view", "factor"}});
  QVERIFY(mainRect(plotOf(*panel))->axis(QCPAxis::atBottom)->label().contains(QStringLiteral("Position")));
  QCOMPARE(mainRect(plotOf(*panel))->axis(QCPAxis::atBottom)->scaleType(), QCPAxis::stLinear);
}

QTEST_MAIN(DecayPanelTest)
#include "decay_panel_test.moc"
