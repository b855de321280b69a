// The state panel: the state, the counts and the read-out as they came, and a caption that answers its question.

#include <cmath>

#include "panel_fixture.h"

using namespace mambarium;

class StatePanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void tabulatesWhatCame();
  void saysWhetherItCounts();
  void linesFollowTheCounts();
  void mapsShowBoth();
  void largeStatesAreThinnedOut();
  void layerAndHeadAreAskedFor();
};

void StatePanelTest::tabulatesWhatCame() {
  const StateData answer = fake::state(60, 2, 2);
  const auto panel = shownPanel(QStringLiteral("state"), fake::inspected(answer));
  std::size_t state = 0, count = 0, read = 0;
  for (const QStringList& row : panel->table().rows) {
    if (row[2] == u"state") QCOMPARE(row[4].toFloat(), answer.state.data[state++]);
    if (row[2] == u"count") QCOMPARE(row[4].toFloat(), answer.counts.data[count++]);
    if (row[2] == u"read_out") QCOMPARE(row[4].toFloat(), answer.read_out.data[read++]);
  }
  QCOMPARE(state, answer.state.data.size());
  QCOMPARE(read, answer.read_out.data.size());
  QCOMPARE(panel->table().rows[8 + 2 * 3][3], QStringLiteral("0 1 → 1"));
}

void StatePanelTest::saysWhetherItCounts() {
  StateData answer = fake::state(60, 2, 1);
  for (const auto& [r_squared, words] :
       {std::pair(0.987, "R² = 0.987 on other sequences, 0.612 from token frequencies alone: it counts."),
        std::pair(0.75, "R² = 0.750 on other sequences, 0.612 from token frequencies alone: it counts in part."),
        std::pair(0.6, "R² = 0.600 on other sequences, 0.612 from token frequencies alone: it does not count.")}) {
    answer.r_squared = r_squared;
    const auto panel = shownPanel(QStringLiteral("state"), fake::inspected(answer));
    QVERIFY2(panel->caption().endsWith(QString::fromUtf8(words)), qPrintable(panel->caption()));
  }
}

void StatePanelTest::linesFollowTheCounts() {
  const StateData answer = fake::state(60, 2, 1);
  const auto panel = shownPanel(QStringLiteral("state"), fake::inspected(answer));
  const auto lines = visibleGraphs(*panel);
  QCOMPARE(lines.size(), std::size_t{2 * 4});
  for (std::size_t pair = 0; pair < 4; ++pair)
    for (int t = 0; t < 60; ++t) {
      const auto cell = static_cast<std::size_t>(t) * 4 + pair;
      QCOMPARE(static_cast<float>(lines[2 * pair]->data()->at(t)->value), answer.counts.data[cell]);
      QCOMPARE(static_cast<float>(lines[2 * pair + 1]->data()->at(t)->value), answer.read_out.data[cell]);
    }
  QVERIFY(legendTexts(*panel).contains(QStringLiteral("0 → 1")));
  const QCPAxisRect* map = plotOf(*panel)->axisRects()[1];
  moveMouse(plotOf(*panel), {map->axis(QCPAxis::atBottom)->coordToPixel(40), double(map->center().y())});
  const auto* label = plotOf(*panel)->findChild<QLabel*>(QStringLiteral("hoverLabel"));
  QVERIFY2(label->isVisible() &&
               label->text().contains(QStringLiteral("0 → 0: %1, read out").arg(answer.counts.data[39 * 4])),
           qPrintable(label->text()));
}

void StatePanelTest::mapsShowBoth() {
  const auto panel = shownPanel(QStringLiteral("state"), fake::inspected(fake::state(60, 2, 1)));
  auto* box = named<QComboBox>(*panel, QStringLiteral("View"));
  box->setFocus();
  QTest::keyClick(box, Qt::Key_Down);
  QCOMPARE(panel->options()["view"].get<std::string>(), std::string("maps"));
  QVERIFY(visibleGraphs(*panel).empty());
  QTRY_COMPARE(plotOf(*panel)->axisRectCount(), 4);
  const auto rects = plotOf(*panel)->axisRects();
  QTRY_VERIFY(rects[3]->height() > 20);
  for (const QCPAxisRect* rect : rects) {
    QVERIFY(std::abs(rect->left() - rects[0]->left()) <= 1);
    QVERIFY(std::abs(rect->right() - rects[0]->right()) <= 1);
  }
}

void StatePanelTest::largeStatesAreThinnedOut() {
  StateData answer = fake::state(40, 2, 1);
  answer.state = Tensor{{40, 10, 10}, std::vector<float>(4000)};
  for (std::size_t t = 0; t < 40; ++t) answer.state.data[t * 100 + 77] = static_cast<float>(t);
  const auto panel = shownPanel(QStringLiteral("state"), fake::inspected(answer));
  QVERIFY2(panel->caption().contains(QStringLiteral("of its 100 numbers the 48 that vary most are drawn")),
           qPrintable(panel->caption()));
  QCOMPARE(panel->table().rows.size(), std::size_t{40 * (100 + 2 * 4)});
}

void StatePanelTest::layerAndHeadAreAskedFor() {
  PanelData data = fake::inspected(fake::state(60, 2, 1));
  data.runs[0].config.set("model.layers", std::int64_t{3});
  data.runs[0].config.set("model.headdim", d_inner_of(data.runs[0].config) / 2);
  const auto panel = shownPanel(QStringLiteral("state"), data);
  auto* layer = named<QComboBox>(*panel, QStringLiteral("Layer"));
  auto* head = named<QComboBox>(*panel, QStringLiteral("Head"));
  QVERIFY(layer->isVisible() && head->isVisible());
  QCOMPARE(layer->count(), 3);
  QCOMPARE(head->count(), 2);
  for (QComboBox* box : {layer, head}) {
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Down);
  }
  QCOMPARE(panel->wants()->what, std::string("state"));
  QCOMPARE(panel->wants()->layer, 1);
  QCOMPARE(panel->wants()->head, 1);
  panel->setOptions({{"layer", 40}});
  QCOMPARE(panel->wants()->layer, 2);
}

QTEST_MAIN(StatePanelTest)
#include "state_panel_test.moc"
