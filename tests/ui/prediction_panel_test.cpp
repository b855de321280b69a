// The prediction panel, and what panels along a sequence share.

#include <cmath>
#include <map>

#include "panel_fixture.h"

using namespace mambarium;

class PredictionPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void positionShowsWholeDistributions();
  void positionIsChosenByKeysAndByMouse();
  void contextsAreTiles();
  void manyContextsAreTheMostFrequent();
  void predictionShowsTheChosenSymbol();
  void anEmptyPanelCanBeResized();
  void predictionShowsOneContext();
  void predictionCaptionIsTrue();
  void hoverTellsTheTokenAndOthersLightUp();
  void theProbeChangesWhatIsWanted();
};

void PredictionPanelTest::predictionShowsTheChosenSymbol() {
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

void PredictionPanelTest::anEmptyPanelCanBeResized() {
  const auto panel = shownPanel(QStringLiteral("prediction"), {});
  panel->resize(400, 200);
  QTest::qWait(30);
  QVERIFY(!panel->hasData());
}

void PredictionPanelTest::predictionShowsOneContext() {
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

  // Chosen on an order-2 run, and then a run of order 1: its list has no such context.
  answer.order = 1;
  panel->show(fake::inspected(answer));
  QCOMPARE(named<QComboBox>(*panel, QStringLiteral("Context"))->currentIndex(), 0);
  QCOMPARE(panel->table().rows.size(), std::size_t{100});
  QVERIFY(!panel->caption().contains(QStringLiteral("after")));

  const auto* const box = named<QComboBox>(*panel, QStringLiteral("Context"));
  QVERIFY(box->isVisible());
  panel->resize(640, 220);
  QTRY_VERIFY2(!box->isVisible(), "it takes the plot's room");
  panel->setOptions({{"context", "0"}});
  QVERIFY2(box->isVisible(), "what was chosen is to be seen");

  PredictionData few = fake::prediction(3, 4);
  int missing = 0;
  while (std::ranges::count(few.tokens, missing) > 0) ++missing;
  panel->show(fake::inspected(few));
  panel->setOptions({{"context", std::to_string(missing)}});
  QVERIFY2(panel->caption().contains(QStringLiteral("does not occur")), qPrintable(panel->caption()));
}

void PredictionPanelTest::predictionCaptionIsTrue() {
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

void PredictionPanelTest::hoverTellsTheTokenAndOthersLightUp() {
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

  QImage lit;
  QTRY_VERIFY((lit = plotOf(*decay)->grab().toImage()) != before);
  QTest::qWait(30);
  QCOMPARE(replots.size(), 0);
  const double ratio = lit.devicePixelRatio();
  const QPointF there = pixelOfToken(plotOf(*decay), 37) * ratio, elsewhere = pixelOfToken(plotOf(*decay), 90) * ratio;
  QVERIFY(lit.pixelColor(there.toPoint()) != before.pixelColor(there.toPoint()));
  QCOMPARE(lit.pixelColor(elsewhere.toPoint()), before.pixelColor(elsewhere.toPoint()));

  QEvent leave(QEvent::Leave);
  QCoreApplication::sendEvent(plotOf(*prediction), &leave);
  QCOMPARE(hovered.size(), 1);
  QCOMPARE(hovered.takeFirst().front().toInt(), -1);
  QTRY_VERIFY(plotOf(*decay)->grab().toImage() == before);

  decay->highlightToken(5000);
  decay->highlightToken(127);
  decay->highlightToken(-1);
}

void PredictionPanelTest::theProbeChangesWhatIsWanted() {
  for (const char* id : {"prediction", "decay"}) {
    const auto panel = shownPanel(QString::fromLatin1(id), fake::panelData(QString::fromLatin1(id)));
    QSignalSpy chosen(panel.get(), &Panel::probeChosen);
    QVERIFY((*panel->wants() == InspectRequest{id, 0}));
    auto* box = named<QComboBox>(*panel, QStringLiteral("Probe sequence"));
    QCOMPARE(box->count(), static_cast<int>(probe_count));
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Down);
    QCOMPARE(chosen.size(), 1);
    QVERIFY((*panel->wants() == InspectRequest{id, 1}));
    panel->setProbe(3);
    QCOMPARE(box->currentIndex(), 3);
    QCOMPARE(chosen.size(), 1);
    panel->setProbe(99);
    QCOMPARE(panel->wants()->probe, 3);
  }
  QVERIFY(!shownPanel(QStringLiteral("loss"), fake::oneRun())->wants());
}

void PredictionPanelTest::positionShowsWholeDistributions() {
  const PredictionData answer = fake::prediction(64, 4);
  const auto panel = shownPanel(QStringLiteral("prediction"), fake::inspected(answer));
  panel->setOptions({{"view", "position"}, {"position", 12}});
  const PanelTable table = panel->table();
  QCOMPARE(table.rows.size(), std::size_t{4});
  double total = 0;
  std::vector<const QCPBars*> bars;
  for (int i = 0; i < plotOf(*panel)->plottableCount(); ++i)
    if (const auto* shown = qobject_cast<QCPBars*>(plotOf(*panel)->plottable(i))) bars.push_back(shown);
  QCOMPARE(bars.size(), std::size_t{3});
  for (std::size_t symbol = 0; symbol < 4; ++symbol) {
    QCOMPARE(table.rows[symbol][0], QStringLiteral("12"));
    QCOMPARE(table.rows[symbol][2].toFloat(), answer.model.data[11 * 4 + symbol]);
    QCOMPARE(static_cast<float>(bars[2]->data()->at(static_cast<int>(symbol))->value),
             answer.oracle.data[11 * 4 + symbol]);
    total += table.rows[symbol][3].toDouble();
  }
  QVERIFY(std::abs(total - 1) < 1e-6);
  QVERIFY2(panel->caption().contains(QStringLiteral("after token 12")), qPrintable(panel->caption()));
  QVERIFY(panel->caption().endsWith(QStringLiteral("next came token %1.").arg(answer.tokens[12])));
  panel->setOptions({{"position", 1000}});
  QVERIFY(panel->caption().endsWith(QStringLiteral("next came token %1.").arg(answer.last_target)));
  panel->setOptions({{"view", "sequence"}});
  QVERIFY(!bars[0]->visible());
}

void PredictionPanelTest::positionIsChosenByKeysAndByMouse() {
  const auto panel = shownPanel(QStringLiteral("prediction"), fake::inspected(fake::prediction(128, 2)));
  auto* slider = named<QSlider>(*panel, QStringLiteral("Position"));
  QVERIFY(!slider->isVisible());
  panel->setOptions({{"view", "position"}});
  QVERIFY(slider->isVisible());
  slider->setFocus();
  QTest::keyClick(slider, Qt::Key_Right);
  QTest::keyClick(slider, Qt::Key_PageUp);
  QCOMPARE(panel->options()["position"].get<int>(), 12);
  QTest::qWait(30);
  const QCPAxisRect* strip = plotOf(*panel)->axisRects().front();
  const QPoint there(static_cast<int>(strip->axis(QCPAxis::atBottom)->coordToPixel(90)), strip->center().y());
  QTest::mouseClick(plotOf(*panel), Qt::LeftButton, {}, there);
  QCOMPARE(panel->options()["position"].get<int>(), 90);
  QCOMPARE(slider->value(), 90);
}

void PredictionPanelTest::contextsAreTiles() {
  PredictionData answer = fake::prediction(128, 2);
  answer.order = 2;
  const auto panel = shownPanel(QStringLiteral("prediction"), fake::inspected(answer));
  panel->setOptions({{"view", "contexts"}});
  QTest::qWait(30);
  QStringList headings;
  for (const QCPAxisRect* rect : plotOf(*panel)->axisRects())
    if (rect->visible()) headings << rect->axis(QCPAxis::atTop)->label();
  QCOMPARE(headings, (QStringList{QStringLiteral("after 0 0"), QStringLiteral("after 0 1"), QStringLiteral("after 1 0"),
                                  QStringLiteral("after 1 1")}));
  const auto tiles = plotOf(*panel)->axisRects().last(4);
  for (const qsizetype left : {0, 2}) {
    QCOMPARE(tiles[left]->top(), tiles[left + 1]->top());
    QCOMPARE(tiles[left]->bottom(), tiles[left + 1]->bottom());
  }
  std::map<QString, int> seen;
  for (const QStringList& row : panel->table().rows) {
    const auto t = static_cast<std::size_t>(row[2].toInt());
    QCOMPARE(row[0], QStringLiteral("%1 %2").arg(answer.tokens[t - 2]).arg(answer.tokens[t - 1]));
    QCOMPARE(row[1].toInt(), ++seen[row[0]]);
    QCOMPARE(row[4].toFloat(), answer.model.data[2 * (t - 1) + 1]);
  }
  QCOMPARE(panel->table().rows.size(), std::size_t{127});
  const QPointF inside = QPointF(plotOf(*panel)->axisRects().back()->center());
  moveMouse(plotOf(*panel), inside);
  const auto* label = plotOf(*panel)->findChild<QLabel*>(QStringLiteral("hoverLabel"));
  QVERIFY2(label->text().contains(QStringLiteral("after 1 1, occurrence")), qPrintable(label->text()));
  panel->setOptions({{"view", "sequence"}});
  QCOMPARE(plotOf(*panel)->axisRectCount(), 2);
}

void PredictionPanelTest::manyContextsAreTheMostFrequent() {
  PredictionData answer = fake::prediction(400, 3);
  answer.order = 3;
  const auto panel = shownPanel(QStringLiteral("prediction"), fake::inspected(answer));
  panel->setOptions({{"view", "contexts"}});
  std::map<QString, int> frequency;
  for (const QStringList& row : panel->table().rows) ++frequency[row[0]];
  QVERIFY(frequency.size() > 16);
  int least_shown = 1000, shown = 0;
  for (const QCPAxisRect* rect : plotOf(*panel)->axisRects()) {
    if (!rect->visible()) continue;
    const QString context = rect->axis(QCPAxis::atTop)->label().mid(6);
    least_shown = std::min(least_shown, frequency.at(context));
    frequency.erase(context);
    ++shown;
  }
  QCOMPARE(shown, 16);
  for (const auto& [context, count] : frequency) QVERIFY(count <= least_shown);
  QVERIFY2(panel->caption().endsWith(QStringLiteral("the 16 most frequent are drawn.")), qPrintable(panel->caption()));
}

QTEST_MAIN(PredictionPanelTest)
#include "prediction_panel_test.moc"
