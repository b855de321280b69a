// The extrapolation panel: every point where it belongs, curves of runs that were current, and a caption in words.

#include <cmath>

#include "panel_fixture.h"

using namespace mambarium;

class ExtrapolationPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void tabulatesWhatCame();
  void captionIsASentence();
  void captionOfOtherLengths_data();
  void captionOfOtherLengths();
  void pointsStandAtTheirLengths();
  void theBandIsTheInterval();
  void lengthsAreNamed();
  void chanceAndTrainedLengthAreLines();
  void theTrainedLengthIsNamedBesideTheCurve();
  void runsThatWereCurrentKeepTheirCurves();
  void recipesKeepTheOtherCurves();
  void everyRunWearsItsLook();
  void hoverReadsAllRuns();
  void refusalsAreSentences();
};

void ExtrapolationPanelTest::tabulatesWhatCame() {
  const auto panel = shownPanel(QStringLiteral("extrapolation"), fake::inductionRuns(3));
  const auto rows = panel->table().rows;
  QCOMPARE(rows.size(), std::size_t{3 * 7});
  const auto answer = fake::inductionRuns(1).inspected->get<ExtrapolationData>();
  for (std::size_t i = 0; i < 7; ++i) {
    const QStringList& row = rows[14 + i];
    QCOMPARE(row[0], QStringLiteral("Motif-2"));
    QCOMPARE(row[1].toInt(), 1240);
    QCOMPARE(row[3].toLongLong(), answer.points[i].length);
    QCOMPARE(row[4].toDouble(), answer.points[i].low);
    QCOMPARE(row[5].toDouble(), answer.points[i].high);
    QCOMPARE(row[6].toLongLong(), answer.points[i].sequences);
    QCOMPARE(row[7].toLongLong(), answer.points[i].right);
    QCOMPARE(row[8].toDouble(), answer.points[i].accuracy());
  }
}

void ExtrapolationPanelTest::captionIsASentence() {
  PanelData data = fake::inductionRuns(1);
  ExtrapolationData answer = data.inspected->get<ExtrapolationData>();
  for (ExtrapolationData::Point& point : answer.points) {
    point.sequences = 200;
    point.right = point.length == 1024 ? 186 : 200;
  }
  data.inspected = answer;
  const auto panel = shownPanel(QStringLiteral("extrapolation"), data);
  QCOMPARE(panel->caption(), QStringLiteral("At 1,024 tokens, four times the trained length, 93 % of the answers are "
                                            "right, at the trained length 100 %; guessing gives 1.6 % (step 1,240). "
                                            "Lengths beyond 4,096 are asked for by mambarium-worker evaluate "
                                            "--lengths."));
  answer.points.resize(3);  // as with learned positions, which end at the trained length
  data.inspected = answer;
  panel->show(data);
  QVERIFY2(panel->caption().endsWith(QStringLiteral("(step 1,240).")), qPrintable(panel->caption()));
}

void ExtrapolationPanelTest::captionOfOtherLengths_data() {
  QTest::addColumn<int>("trained");
  QTest::addColumn<int>("length");
  QTest::addColumn<QString>("words");
  QTest::newRow("one") << 64 << 64 << "At 64 tokens, the trained length, ";
  QTest::newRow("two") << 64 << 128 << "At 128 tokens, twice the trained length, ";
  QTest::newRow("many") << 64 << 2048 << "At 2,048 tokens, 32 times the trained length, ";
  QTest::newRow("between") << 100 << 150 << "At 150 tokens, 1.50 times the trained length, ";
  QTest::newRow("unknown") << 0 << 150 << "At 150 tokens, 50 % of the answers";
}

void ExtrapolationPanelTest::captionOfOtherLengths() {
  QFETCH(int, trained);
  QFETCH(int, length);
  QFETCH(QString, words);
  PanelData data = fake::inductionRuns(1);
  data.inspected = ExtrapolationData{
      .step = 3, .trained_length = trained, .chance = std::nan(""), .points = {{length, 10, 5, 0.24, 0.76}}};
  const auto panel = shownPanel(QStringLiteral("extrapolation"), data);
  QVERIFY2(panel->caption().startsWith(words), qPrintable(panel->caption()));
  QVERIFY(!panel->caption().contains(QStringLiteral("guessing")));
}

void ExtrapolationPanelTest::pointsStandAtTheirLengths() {
  const PanelData data = fake::inductionRuns(1);
  const auto answer = data.inspected->get<ExtrapolationData>();
  const auto panel = shownPanel(QStringLiteral("extrapolation"), data);
  const auto& line = *visibleGraphs(*panel).back()->data();
  QCOMPARE(line.size(), 7);
  for (int i = 0; i < 7; ++i) {
    const ExtrapolationData::Point& point = answer.points[static_cast<std::size_t>(i)];
    QCOMPARE(line.at(i)->key, std::log2(static_cast<double>(point.length)));
    QCOMPARE(line.at(i)->value, 100 * point.accuracy());
  }
}

void ExtrapolationPanelTest::theBandIsTheInterval() {
  const PanelData data = fake::inductionRuns(1);
  const auto answer = data.inspected->get<ExtrapolationData>();
  const auto panel = shownPanel(QStringLiteral("extrapolation"), data);
  for (QCPGraph* graph : visibleGraphs(*panel)) {
    if (!graph->channelFillGraph()) continue;
    for (int i = 0; i < 7; ++i) {
      QCOMPARE(graph->channelFillGraph()->data()->at(i)->value, 100 * answer.points[static_cast<std::size_t>(i)].low);
      QCOMPARE(graph->data()->at(i)->value, 100 * answer.points[static_cast<std::size_t>(i)].high);
    }
    return;
  }
  QFAIL("no band");
}

void ExtrapolationPanelTest::lengthsAreNamed() {
  const auto panel = shownPanel(QStringLiteral("extrapolation"), fake::inductionRuns(1));
  const QCPAxis* x = mainRect(plotOf(*panel))->axis(QCPAxis::atBottom);
  const QStringList all = {QStringLiteral("64"),   QStringLiteral("128"),   QStringLiteral("256"),
                           QStringLiteral("512"),  QStringLiteral("1,024"), QStringLiteral("2,048"),
                           QStringLiteral("4,096")};
  QCOMPARE(x->tickVectorLabels(), all);
  panel->resize(260, 240);
  QTRY_VERIFY(x->tickVectorLabels().size() < 7);  // rather than on one another
}

void ExtrapolationPanelTest::chanceAndTrainedLengthAreLines() {
  const auto panel = shownPanel(QStringLiteral("extrapolation"), fake::inductionRuns(1));
  const auto graphs = visibleGraphs(*panel);
  QCOMPARE(graphs[0]->data()->at(0)->key, 8.0);
  QCOMPARE(graphs[0]->data()->at(1)->key, 8.0);
  QCOMPARE(graphs[1]->data()->at(0)->value, 100.0 / 63);
  QCOMPARE(graphs[1]->pen().color(), Theme().neutral());
  QVERIFY(graphs[1]->pen().style() != Qt::SolidLine);
  bool named = false;
  for (int i = 0; i < plotOf(*panel)->itemCount(); ++i)
    if (const auto* text = dynamic_cast<QCPItemText*>(plotOf(*panel)->item(i)))
      named = named || text->text().contains(QStringLiteral("trained at 256"));
  QVERIFY(named);
}

void ExtrapolationPanelTest::theTrainedLengthIsNamedBesideTheCurve() {
  PanelData data = fake::inductionRuns(1);
  ExtrapolationData answer = data.inspected->get<ExtrapolationData>();
  for (const double share : {0.0, 0.125, 0.5, 1.0}) {
    for (ExtrapolationData::Point& point : answer.points) {
      point.sequences = 200;
      point.right = std::llround(200 * share);
    }
    data.inspected = answer;
    const auto panel = shownPanel(QStringLiteral("extrapolation"), data);
    const auto* text = dynamic_cast<QCPItemText*>(plotOf(*panel)->item(0));
    QVERIFY(text);
    const double curve = mainRect(plotOf(*panel))->axis(QCPAxis::atLeft)->coordToPixel(100 * share);
    QVERIFY(text->left->pixelPosition().x() > 0);
    QVERIFY2(std::abs(text->left->pixelPosition().y() - curve) > 15, qPrintable(QString::number(share)));
  }
}

void ExtrapolationPanelTest::runsThatWereCurrentKeepTheirCurves() {
  PanelData data = fake::inductionRuns(3);
  data.others.clear();
  const auto panel = shownPanel(QStringLiteral("extrapolation"), data);
  QCOMPARE(panel->table().rows.size(), std::size_t{7});
  data.current = 0;
  data.inspected.reset();  // not answered yet
  panel->show(data);
  QCOMPARE(panel->table().rows.size(), std::size_t{7});
  QCOMPARE(panel->table().rows[0][0], QStringLiteral("Motif-2"));
  QVERIFY2(panel->caption().startsWith(QStringLiteral("The current run has no curve yet")),
           qPrintable(panel->caption()));
  data.inspected = nlohmann::json(fake::extrapolation(300));
  panel->show(data);
  QCOMPARE(panel->table().rows.size(), std::size_t{14});
  QCOMPARE(legendTexts(*panel)[0], QStringLiteral("Mamba, step 1,240"));
  data.runs.pop_back();  // hidden
  panel->show(data);
  QCOMPARE(panel->table().rows.size(), std::size_t{7});
  QVERIFY(panel->data().others.empty());
}

void ExtrapolationPanelTest::recipesKeepTheOtherCurves() {
  const auto panel = shownPanel(QStringLiteral("extrapolation"), fake::inductionRuns(3));
  const auto again = shownPanel(QStringLiteral("extrapolation"), panel_data_from_recipe(to_recipe_json(panel->data())));
  QVERIFY(again->table().rows == panel->table().rows);
  QCOMPARE(again->table().rows.size(), std::size_t{21});
  nlohmann::json broken = to_recipe_json(panel->data());
  broken["others"] = 3;
  QVERIFY_EXCEPTION_THROWN(panel_data_from_recipe(broken), std::invalid_argument);
}

void ExtrapolationPanelTest::everyRunWearsItsLook() {
  const auto panel = shownPanel(QStringLiteral("extrapolation"), fake::inductionRuns(3));
  std::vector<QCPGraph*> curves;
  for (QCPGraph* graph : visibleGraphs(*panel))
    if (!graph->scatterStyle().isNone()) curves.push_back(graph);
  QCOMPARE(curves.size(), std::size_t{3});
  for (int style = 0; style < 3; ++style)
    QCOMPARE(curves[static_cast<std::size_t>(style)]->pen(), Theme().runPen(style, style));
}

void ExtrapolationPanelTest::hoverReadsAllRuns() {
  const auto panel = shownPanel(QStringLiteral("extrapolation"), fake::inductionRuns(3));
  const QCPAxisRect* rect = mainRect(plotOf(*panel));
  moveMouse(plotOf(*panel), {rect->axis(QCPAxis::atBottom)->coordToPixel(9.3), double(rect->center().y())});
  const auto* label = plotOf(*panel)->findChild<QLabel*>(QStringLiteral("hoverLabel"));
  QVERIFY2(label->text().startsWith(QStringLiteral("<b>512 tokens</b>")), qPrintable(label->text()));
  QCOMPARE(label->text().count(QStringLiteral(" of 16")), 3);
}

void ExtrapolationPanelTest::refusalsAreSentences() {
  PanelData data = fake::oneRun();
  const auto panel = shownPanel(QStringLiteral("extrapolation"), data);
  QVERIFY(!panel->hasData());
  QVERIFY2(panel->caption().startsWith(QStringLiteral("Only an induction head has an answer")),
           qPrintable(panel->caption()));
  PanelData empty = fake::inductionRuns(1);
  empty.inspected = ExtrapolationData{.step = 1, .trained_length = 256, .chance = 0.1, .points = {}};
  panel->show(empty);
  QVERIFY(!panel->hasData());
}

QTEST_MAIN(ExtrapolationPanelTest)
#include "extrapolation_panel_test.moc"
