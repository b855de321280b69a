// The decoding panel: the confusion of directions, the course of outputs with its gaps, R^2 of each, their words and
// numbers, what the mouse reads off, and the sentence where there is nothing to decode.

#include <cmath>

#include "core/contract/wilson_interval.h"
#include "panel_fixture.h"
#include "ui/plots/cell_map.h"

using namespace mambarium;

namespace {

std::unique_ptr<Panel> shown(const PanelData& data, const char* options = "{}") {
  auto panel = shownPanel(QStringLiteral("decoding"), data);
  panel->setOptions(nlohmann::json::parse(options));
  QTest::qWait(30);
  return panel;
}

QString readout(const Panel& panel) {
  const auto* label = plotOf(panel)->findChild<QLabel*>(QStringLiteral("hoverLabel"));
  return label->isVisible() ? label->text() : QString();
}

QCPAxis* axisOf(const Panel& panel, int rect, QCPAxis::AxisType type) {
  return plotOf(panel)->axisRects()[rect]->axis(type);
}

DecodingData answerOf(const PanelData& data) {
  return data.inspected->get<DecodingData>();
}

// The graph of a rect that has a point for every window, drawn with this pen.
QCPGraph* lineWith(const Panel& panel, int rect, const QPen& pen) {
  for (QCPGraph* graph : visibleGraphs(panel))
    if (graph->keyAxis()->axisRect() == plotOf(panel)->axisRects()[rect] && graph->pen() == pen) return graph;
  return nullptr;
}

}  // namespace

class DecodingPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void confusionIsTabulated();
  void confusionIsPutIntoWords();
  void theIntervalCountsWindowsThatShareNoBin();
  void classesOfFilesAreNumbers();
  void whatTheIdealDecoderDoesMayBeUnknown();
  void aCellIsReadOffAndMarked();
  void otherRunsStandBesideIt();
  void aNarrowPanelSaysItInTheLegend();
  void tracesAreTabulated();
  void tracesStopAtPauses();
  void tracesAreReadOff();
  void loneWindowsAreDots();
  void oneOutputCanBeChosen();
  void aLowPanelDrawsFewerOutputs();
  void scoresAreBars();
  void outputsArePutIntoWords();
  void viewsAreChosenByHand();
  void viewsLeaveNothingBehind();
  void otherTasksGetASentence();
};

void DecodingPanelTest::confusionIsTabulated() {
  const PanelData data = fake::decodingRuns(1, false);
  const DecodingData answer = answerOf(data);
  const auto panel = shown(data);
  const auto rows = panel->table().rows;
  for (std::size_t cell = 0; cell < 64; ++cell) {
    const QStringList& row = rows[cell];
    QCOMPARE(row[2], QStringLiteral("windows"));
    QCOMPARE(row[3], QStringLiteral("%1°").arg(45 * (cell / 8)));
    QCOMPARE(row[4], QStringLiteral("%1°").arg(45 * (cell % 8)));
    QCOMPARE(row[5].toFloat(), answer.model.confusion.data[cell]);
    QCOMPARE(rows[64 + cell][2], QStringLiteral("windows_of_the_ideal"));
    QCOMPARE(rows[64 + cell][5].toFloat(), answer.ideal.confusion.data[cell]);
  }
  QCOMPARE(rows[128][2], QStringLiteral("accuracy"));
  QCOMPARE(rows[128][5].toDouble(), answer.model.accuracy);
  QCOMPARE(rows.size(), std::size_t{128 + 7});
}

void DecodingPanelTest::confusionIsPutIntoWords() {
  PanelData data = fake::decodingRuns(1, false);
  DecodingData answer = answerOf(data);
  answer.model.accuracy = 0.884;
  answer.ideal.accuracy = 0.9416;
  data.inspected = answer;
  const auto panel = shown(data);
  // 11 windows of 30 bins begin within 11 bins, so one of every 11 counts: 2,400 / 11.
  const ShareInterval interval = wilson_interval(0.884, 2400 / 11.0);
  const QString expected = QStringLiteral(
                               "Step 1,240: 88.4 % of 2,400 windows are decoded right (95 % interval %1 to "
                               "%2 %), by the ideal decoder 94.2 %, by guessing 12.5 %; hardest is 315° with "
                               "%3 %, taken for 0° most often.")
                               .arg(100 * interval.low, 0, 'f', 1)
                               .arg(100 * interval.high, 0, 'f', 1)
                               .arg(100 * static_cast<double>(answer.model.confusion.data[63]) / 300, 0, 'f', 1);
  QCOMPARE(panel->caption(), expected);
}

void DecodingPanelTest::theIntervalCountsWindowsThatShareNoBin() {
  const auto intervalOf = [](const PanelData& data) {
    const auto panel = shown(data);
    double low = std::nan("");
    for (const QStringList& row : panel->table().rows)
      if (row[2] == u"accuracy_low") low = row[5].toDouble();
    return low;
  };
  PanelData data = fake::decodingRuns(1, false);
  DecodingData answer = answerOf(data);
  const double accuracy = answer.model.accuracy;
  QCOMPARE(intervalOf(data), wilson_interval(accuracy, 2400.0 * 12 / 132).low);
  // Windows of 5 bins: the first, sixth and eleventh of a trial.
  data.runs[0].config.set("task.window", std::int64_t{5});
  QCOMPARE(intervalOf(data), wilson_interval(accuracy, 2400.0 * 36 / 132).low);
  // Without a pause: windows 1, 31, 61, 91 and 121 of 132.
  data.runs[0].config.set("task.window", std::int64_t{30});
  for (std::size_t i = 0; i < answer.bins.size(); ++i) answer.bins[i] = static_cast<std::int64_t>(i);
  data.inspected = answer;
  QCOMPARE(intervalOf(data), wilson_interval(accuracy, 2400.0 * 5 / 132).low);
  data.current = 1;  // hidden: nobody knows how wide a window is
  QVERIFY(std::isnan(intervalOf(data)));
}

void DecodingPanelTest::classesOfFilesAreNumbers() {
  PanelData data = fake::decodingRuns(1, false);
  data.runs[0].config.set("task.recording", std::string("windows"));
  const auto panel = shown(data);
  QCOMPARE(panel->table().rows[9][3], QStringLiteral("1"));
  QCOMPARE(axisOf(*panel, 0, QCPAxis::atLeft)->label(), QStringLiteral("True class"));
  QVERIFY(axisOf(*panel, 0, QCPAxis::atLeft)->tickVectorLabels().contains(QStringLiteral("7")));
  QVERIFY2(panel->caption().contains(QStringLiteral("hardest is 7 with")), qPrintable(panel->caption()));
}

void DecodingPanelTest::whatTheIdealDecoderDoesMayBeUnknown() {
  PanelData data = fake::decodingRuns(1, false);
  DecodingData answer = answerOf(data);
  answer.ideal = {};
  data.inspected = answer;
  const auto panel = shown(data);
  QVERIFY(!panel->caption().contains(QStringLiteral("ideal")));
  QVERIFY(panel->caption().contains(QStringLiteral(", by guessing 12.5 %")));
  QCOMPARE(panel->table().rows.size(), std::size_t{64 + 5});
  data = fake::decodingRuns(1, true);
  answer = answerOf(data);
  answer.ideal = {};
  data.inspected = answer;
  panel->show(data);
  QVERIFY(!panel->caption().contains(QStringLiteral("ideal")));
  QVERIFY(!legendTexts(*panel).contains(QStringLiteral("ideal decoder")));
  QCOMPARE(panel->table().rows[0][4], QString());
  panel->setOptions({{"outputs", "r_squared"}});
  QVERIFY(!legendTexts(*panel).contains(QStringLiteral("ideal decoder")));
}

void DecodingPanelTest::aCellIsReadOffAndMarked() {
  const PanelData data = fake::decodingRuns(1, false);
  const DecodingData answer = answerOf(data);
  const auto panel = shown(data);
  const auto* lit = [&]() -> QCPItemRect* {
    for (int i = 0; i < plotOf(*panel)->itemCount(); ++i)
      if (auto* rect = qobject_cast<QCPItemRect*>(plotOf(*panel)->item(i))) return rect;
    return nullptr;
  }();
  QVERIFY(lit && !lit->visible());
  const QPointF cell(axisOf(*panel, 0, QCPAxis::atBottom)->coordToPixel(3),
                     axisOf(*panel, 0, QCPAxis::atLeft)->coordToPixel(2));
  moveMouse(plotOf(*panel), cell);
  QVERIFY2(readout(*panel).startsWith(QStringLiteral("<b>true 90°, decoded 135°</b><br>%1 of 300 windows, ")
                                          .arg(static_cast<double>(answer.model.confusion.data[2 * 8 + 3]))),
           qPrintable(readout(*panel)));
  QVERIFY(readout(*panel).contains(
      QStringLiteral("ideal decoder: %1 %")
          .arg(100 * static_cast<double>(answer.ideal.confusion.data[2 * 8 + 3]) / 300, 0, 'f', 1)));
  QVERIFY(lit->visible());
  QCOMPARE(lit->topLeft->coords(), QPointF(2.5, 1.5));
  QCOMPARE(lit->bottomRight->coords(), QPointF(3.5, 2.5));
  Q_EMIT plotOf(*panel)->mouseLeft();
  QVERIFY(!lit->visible());
  QCOMPARE(readout(*panel), QString());
}

void DecodingPanelTest::otherRunsStandBesideIt() {
  const auto panel = shown(fake::decodingRuns(3, false));
  QCOMPARE(legendTexts(*panel).mid(0, 3),
           (QStringList{QStringLiteral("LSTM, step 1,240"), QStringLiteral("Mamba, step 1,240"),
                        QStringLiteral("Motif-2, step 1,240")}));
  std::vector<double> drawn, told;
  for (QCPGraph* graph : visibleGraphs(*panel))
    if (!graph->scatterStyle().isNone()) drawn.push_back(graph->data()->at(0)->value / 100);
  for (const QStringList& row : panel->table().rows)
    if (row[2] == u"accuracy") told.push_back(row[5].toDouble());
  QCOMPARE(told.size(), std::size_t{3});
  QCOMPARE(told[0], answerOf(fake::decodingRuns(3, false)).model.accuracy);  // the current one first
  QCOMPARE(drawn.size(), std::size_t{3});
  QCOMPARE(drawn.back(), told[0]);
  QCOMPARE(drawn.front(), told[1]);

  PanelData mixed = fake::decodingRuns(3, false);  // what is decoded is another thing
  mixed.others[mixed.runs[0].folder] = nlohmann::json(fake::decodedOutputs(0.8));
  const auto fewer = shown(mixed);
  QCOMPARE(legendTexts(*fewer)[0], QStringLiteral("Mamba, step 1,240"));
}

void DecodingPanelTest::aNarrowPanelSaysItInTheLegend() {
  const auto panel = shown(fake::decodingRuns(1, false));
  QCOMPARE(plotOf(*panel)->axisRectCount(), 3);  // map, colours, right answers
  panel->resize(340, 300);
  QTRY_COMPARE(plotOf(*panel)->axisRectCount(), 1);
  QVERIFY2(legendTexts(*panel)[0].startsWith(QStringLiteral("Mamba: ")), qPrintable(legendTexts(*panel)[0]));
  QVERIFY(legendTexts(*panel).contains(QStringLiteral("guessing: 12.5 %")));
  panel->resize(700, 360);
  QTRY_COMPARE(plotOf(*panel)->axisRectCount(), 3);
}

void DecodingPanelTest::tracesAreTabulated() {
  const PanelData data = fake::decodingRuns(1, true);
  const DecodingData answer = answerOf(data);
  const auto rows = shown(data)->table().rows;
  QCOMPARE(rows.size(), std::size_t{132 * 4});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    QCOMPARE(rows[i][0].toLongLong(), answer.bins[i / 4]);
    QCOMPARE(rows[i][1].toDouble(), static_cast<double>(answer.bins[i / 4]) * 0.05);
    QCOMPARE(rows[i][2], QString::fromStdString(answer.output_names[i % 4]));
    QCOMPARE(rows[i][3].toFloat(), answer.truth.data[i]);
    QCOMPARE(rows[i][4].toFloat(), answer.ideal.trace.data[i]);
    QCOMPARE(rows[i][5].toFloat(), answer.model.trace.data[i]);
  }
}

void DecodingPanelTest::tracesStopAtPauses() {
  const PanelData data = fake::decodingRuns(1, true);
  const DecodingData answer = answerOf(data);
  const auto panel = shown(data);
  QCOMPARE(plotOf(*panel)->axisRectCount(), 4);
  for (int output = 0; output < 4; ++output) {
    const QCPGraph* line = lineWith(*panel, output, QPen(Theme().runColor(0), 1.5));
    QVERIFY(line);
    std::vector<float> drawn;
    std::vector<std::size_t> gaps;  // after how many windows
    double before = -1;
    for (const QCPGraphData& point : *line->data()) {
      if (std::isnan(point.value)) {
        gaps.push_back(drawn.size());
        continue;
      }
      QVERIFY(point.key > before);
      before = point.key;
      drawn.push_back(static_cast<float>(point.value));
    }
    QCOMPARE(drawn.size(), std::size_t{132});
    for (std::size_t window = 0; window < 132; ++window)
      QCOMPARE(drawn[window], answer.model.trace.data[4 * window + static_cast<std::size_t>(output)]);
    QCOMPARE(gaps.size(), std::size_t{11});
    for (std::size_t trial = 0; trial < 11; ++trial) QCOMPARE(gaps[trial], 11 * (trial + 1));
  }
  // One axis of time, named below the lowest.
  for (int output = 0; output < 3; ++output) QVERIFY(!axisOf(*panel, output, QCPAxis::atBottom)->tickLabels());
  QCOMPARE(axisOf(*panel, 3, QCPAxis::atBottom)->label(), QStringLiteral("Time in the recording (s), pauses left out"));
  QCOMPARE(axisOf(*panel, 3, QCPAxis::atBottom)->tickVectorLabels().front(), QStringLiteral("2301.5"));
  for (int output = 0; output < 4; ++output) {
    const auto* rect = plotOf(*panel)->axisRects()[output];
    QCOMPARE(rect->left(), plotOf(*panel)->axisRects()[0]->left());
    QCOMPARE(rect->right(), plotOf(*panel)->axisRects()[0]->right());
    QVERIFY(rect->height() > 12);
  }
}

void DecodingPanelTest::tracesAreReadOff() {
  const PanelData data = fake::decodingRuns(1, true);
  const DecodingData answer = answerOf(data);
  const auto panel = shown(data);
  const QCPGraph* line = lineWith(*panel, 2, QPen(Theme().runColor(0), 1.5));
  const double place = line->data()->at(25 + 2)->key;  // window 25 stands behind two gaps
  const auto* rect = plotOf(*panel)->axisRects()[2];
  moveMouse(plotOf(*panel), {rect->axis(QCPAxis::atBottom)->coordToPixel(place), double(rect->center().y())});
  const QString text = readout(*panel);
  QVERIFY2(text.startsWith(QStringLiteral("<b>2306.40 s</b><br>curs_v_x<br>recorded: ")), qPrintable(text));
  QCOMPARE(answer.bins[25], 46000 + 2 * 48 + 29 + 3);
  QVERIFY(text.contains(
      QStringLiteral("decoded: ") +
      QString::number(static_cast<double>(answer.model.trace.data[4 * 25 + 2]), 'g', 3).replace(u'-', QChar(0x2212))));
  moveMouse(plotOf(*panel), {2, 2});
  QCOMPARE(readout(*panel), QString());
}

void DecodingPanelTest::loneWindowsAreDots() {
  PanelData data = fake::decodingRuns(1, true);
  DecodingData answer = answerOf(data);
  for (std::size_t i = 0; i < answer.bins.size(); ++i) answer.bins[i] = static_cast<std::int64_t>(3 * i);
  data.inspected = answer;
  const auto panel = shown(data, R"({"output": 1})");
  int dotted = 0;
  for (const QCPGraph* graph : visibleGraphs(*panel)) dotted += graph->scatterStyle().isNone() ? 0 : 1;
  QCOMPARE(dotted, 2);  // recorded and decoded
}

void DecodingPanelTest::oneOutputCanBeChosen() {
  const auto panel = shown(fake::decodingRuns(1, true));
  auto* box = named<QComboBox>(*panel, QStringLiteral("Output"));
  QVERIFY(box->isVisible());
  QCOMPARE(box->count(), 5);
  box->setFocus();
  for (int step = 0; step < 3; ++step) QTest::keyClick(box, Qt::Key_Down);
  QTRY_COMPARE(plotOf(*panel)->axisRectCount(), 1);
  QCOMPARE(axisOf(*panel, 0, QCPAxis::atLeft)->label(), QStringLiteral("curs_v_x"));
  QCOMPARE(panel->options()["output"].get<int>(), 3);
  panel->show(fake::decodingRuns(1, false));
  QVERIFY(!box->isVisible());
}

void DecodingPanelTest::aLowPanelDrawsFewerOutputs() {
  const auto panel = shown(fake::decodingRuns(1, true));
  panel->resize(500, 190);
  QTRY_VERIFY(plotOf(*panel)->axisRectCount() < 4);
  const int drawn = plotOf(*panel)->axisRectCount();
  QVERIFY(drawn >= 1);
  QCOMPARE(legendTexts(*panel).back(), QStringLiteral("%1 of 4 outputs have room").arg(drawn));
}

void DecodingPanelTest::scoresAreBars() {
  const PanelData data = fake::decodingRuns(3, true);
  const DecodingData answer = answerOf(data);
  const auto panel = shown(data, R"({"outputs": "r_squared"})");
  std::vector<QCPBars*> bars;
  for (int i = 0; i < plotOf(*panel)->plottableCount(); ++i)
    if (auto* series = qobject_cast<QCPBars*>(plotOf(*panel)->plottable(i))) bars.push_back(series);
  QCOMPARE(bars.size(), std::size_t{4});
  for (int output = 0; output < 4; ++output) {
    QCOMPARE(bars[0]->data()->at(output)->value, answer.model.r_squared[static_cast<std::size_t>(output)]);
    QCOMPARE(bars[3]->data()->at(output)->value, answer.ideal.r_squared[static_cast<std::size_t>(output)]);
    for (std::size_t left = 0; left < 3; ++left)
      QVERIFY(bars[left]->data()->at(output)->key < bars[left + 1]->data()->at(output)->key);
  }
  QCOMPARE(axisOf(*panel, 0, QCPAxis::atBottom)->tickVectorLabels()[1], QStringLiteral("curs_p_y\n0.810"));
  const auto rows = panel->table().rows;
  QCOMPARE(rows.size(), std::size_t{3 * 5});
  QCOMPARE(rows[1][4].toDouble(), answer.model.r_squared[1]);
  QCOMPARE(rows[4][2], QStringLiteral("all"));
  QCOMPARE(rows[4][4].toDouble(), answer.model.r_squared_of_all);
  moveMouse(plotOf(*panel), {axisOf(*panel, 0, QCPAxis::atBottom)->coordToPixel(1),
                             double(plotOf(*panel)->axisRects()[0]->center().y())});
  QVERIFY2(readout(*panel).startsWith(QStringLiteral("<b>curs_p_y</b><br>Motif-2: R² 0.810<br>LSTM: ")),
           qPrintable(readout(*panel)));
}

void DecodingPanelTest::outputsArePutIntoWords() {
  const auto panel = shown(fake::decodingRuns(1, true));
  QCOMPARE(panel->caption(),
           QStringLiteral("Step 1,240: over all 4 outputs R² = 0.680 on 2,400 windows, the ideal decoder's 0.900; best "
                          "is curs_p_x with 0.790, worst curs_v_y with 0.580."));
  PanelData data = fake::decodingRuns(1, true);
  DecodingData answer = answerOf(data);
  answer.model.r_squared = {std::nan(""), -0.25, 0.5, 0.125};  // the first output does not change
  data.inspected = answer;
  panel->show(data);
  QVERIFY2(panel->caption().endsWith(QStringLiteral("best is curs_v_x with 0.500, worst curs_p_y with −0.250.")),
           qPrintable(panel->caption()));
}

void DecodingPanelTest::viewsAreChosenByHand() {
  const auto panel = shown(fake::decodingRuns(1, false));
  auto* box = named<QComboBox>(*panel, QStringLiteral("View"));
  QCOMPARE(box->currentText(), QStringLiteral("Confusion"));
  QSignalSpy changed(panel.get(), &Panel::optionsChanged);
  box->setFocus();
  QTest::keyClick(box, Qt::Key_Down);
  QCOMPARE(box->currentText(), QStringLiteral("Traces"));
  QCOMPARE(changed.size(), 1);
  QCOMPARE(panel->options()["directions"].get<std::string>(), std::string("traces"));
  QCOMPARE(panel->table().columns.front(), QStringLiteral("bin"));
  QCOMPARE(panel->table().rows.size(), std::size_t{132});
  QTRY_COMPARE(axisOf(*panel, 0, QCPAxis::atLeft)->tickVectorLabels().size(), 8);
  // Outputs have a choice of their own, and begin with their traces.
  panel->show(fake::decodingRuns(1, true));
  QCOMPARE(box->currentText(), QStringLiteral("Traces"));
  QTest::keyClick(box, Qt::Key_Down);
  QCOMPARE(box->currentText(), QStringLiteral("R² per output"));
  QCOMPARE(panel->table().columns.back(), QStringLiteral("r_squared"));
  panel->show(fake::decodingRuns(1, false));
  QCOMPARE(box->currentText(), QStringLiteral("Traces"));
}

void DecodingPanelTest::viewsLeaveNothingBehind() {
  const auto panel = shown(fake::decodingRuns(3, false));
  const auto counts = [&] {
    return std::vector<int>{plotOf(*panel)->plottableCount(), plotOf(*panel)->itemCount(),
                            plotOf(*panel)->axisRectCount(), plotOf(*panel)->plotLayout()->elementCount(),
                            static_cast<int>(panel->findChildren<QObject*>().size())};
  };
  const auto goRound = [&] {
    panel->show(fake::decodingRuns(3, true));
    panel->setOptions({{"outputs", "r_squared"}});
    QCoreApplication::processEvents();
    panel->setOptions({{"outputs", "traces"}});
    QCoreApplication::processEvents();
    panel->show(fake::decodingRuns(3, false));
    QTest::qWait(30);
  };
  goRound();
  const auto before = counts();
  for (int round = 0; round < 5; ++round) goRound();
  QCOMPARE(counts(), before);
}

void DecodingPanelTest::otherTasksGetASentence() {
  const auto panel = shown(fake::oneRun());
  QVERIFY(!panel->hasData());
  QVERIFY2(panel->caption().startsWith(QStringLiteral("Only a decoder has a recording to be judged by")),
           qPrintable(panel->caption()));
  QVERIFY(panel->table().rows.empty());
  QVERIFY(!named<QComboBox>(*panel, QStringLiteral("View"))->isVisible());
  panel->show(fake::decodingRuns(1, false));
  QVERIFY(panel->hasData());
  QVERIFY(named<QComboBox>(*panel, QStringLiteral("View"))->isVisible());
  PanelData nothing = fake::decodingRuns(1, false);
  nothing.inspected = DecodingData{};
  panel->show(nothing);
  QVERIFY(!panel->hasData());
}

QTEST_MAIN(DecodingPanelTest)
#include "decoding_panel_test.moc"
