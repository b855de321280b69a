// The reconstruction panel: both states as they came, the error where a person looks for it, and a caption that says
// it.
#include "ui/plots/reconstruction_panel.h"

#include <QSpinBox>
#include <cmath>

#include "panel_fixture.h"

using namespace mambarium;

class ReconstructionPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void tabulatesWhatCame();
  void theCaptionSaysTheLargestError();
  void anErrorOfZeroHasAPlace();
  void ticksAndTitlesHaveRoom();
  void aWindowOfARecordingIsNamed();
  void layerAndChannelAreAskedFor();
  void misshapenAnswersAreASentence();
};

void ReconstructionPanelTest::tabulatesWhatCame() {
  const ReconstructionData answer = fake::reconstruction(20, 3);
  const auto panel = shownPanel(QStringLiteral("reconstruction"), fake::inspected(answer));
  const PanelTable table = panel->table();
  QCOMPARE(table.rows.size(), 60u);
  for (std::size_t row = 0; row < 60; ++row) {
    QCOMPARE(table.rows[row][3].toFloat(), answer.state.data[row]);
    QCOMPARE(table.rows[row][4].toFloat(), answer.replayed.data[row]);
    QCOMPARE(table.rows[row][5].toDouble(), answer.error[row / 3]);
  }
}

void ReconstructionPanelTest::theCaptionSaysTheLargestError() {
  const auto panel = shownPanel(QStringLiteral("reconstruction"), fake::inspected(fake::reconstruction(20, 3)));
  QCOMPARE(static_cast<ReconstructionPanel&>(*panel).largestError(), 1.9e-15);
  QVERIFY2(panel->caption().contains(QStringLiteral("channel 5")) &&
               panel->caption().contains(QString::fromUtf8("2×10⁻¹⁵")) &&
               panel->caption().contains(QString::fromUtf8("2×10⁻⁷")),
           qPrintable(panel->caption()));
}

void ReconstructionPanelTest::anErrorOfZeroHasAPlace() {
  const auto panel = shownPanel(QStringLiteral("reconstruction"), fake::inspected(fake::reconstruction(20, 3)));
  const auto graphs = visibleGraphs(*panel);
  QCOMPARE(graphs.size(), 1u);
  QCOMPARE(graphs[0]->dataCount(), 20);
  QCPAxis* const y = mainRect(plotOf(*panel))->axis(QCPAxis::atLeft);
  QVERIFY(y->range().contains(graphs[0]->data()->at(0)->value));
  QVERIFY(y->range().contains(graphs[0]->data()->at(19)->value));
}

void ReconstructionPanelTest::ticksAndTitlesHaveRoom() {
  const auto panel = shownPanel(QStringLiteral("reconstruction"), fake::inspected(fake::reconstruction(20, 3)));
  QCOMPARE(legendTexts(*panel).size(), 2);
  for (const int height : {180, 240, 320, 700}) {
    panel->resize(560, height);
    QTest::qWait(60);
    QCPAxisRect* const error = plotOf(*panel)->axisRects().back();
    QCPAxis* const y = error->axis(QCPAxis::atLeft);
    const auto ticks = y->tickVector();
    QVERIFY(!ticks.isEmpty());
    const double line = QFontMetricsF(y->tickLabelFont()).height();
    for (int i = 1; i < ticks.size(); ++i)
      QVERIFY2(y->coordToPixel(ticks[i - 1]) - y->coordToPixel(ticks[i]) >= 0.7 * line,
               qPrintable(QStringLiteral("%1 of %2").arg(i).arg(height)));
    QVERIFY(error->bottom() < plotOf(*panel)->height());
  }
}

void ReconstructionPanelTest::aWindowOfARecordingIsNamed() {
  ReconstructionData answer = fake::reconstruction(20, 3);
  answer.window = ProbeWindow{2, 104, 3, 0.05};
  PanelData data = fake::inspected(answer);
  for (const auto& [key, value] :
       {std::pair{"task.kind", "decoding"}, {"model.kind", "mamba1"}, {"model.coupling", "etd"}})
    QVERIFY(!data.runs[0].config.set_from_string(key, value));
  const auto panel = shownPanel(QStringLiteral("reconstruction"), data);
  const QString direction = QString::fromUtf8("direction 3 (135°)");
  QVERIFY2(panel->caption().endsWith(QStringLiteral("bins 104 to 123, ") + direction + u'.'),
           qPrintable(panel->caption()));
  moveMouse(plotOf(*panel), pixelOfToken(plotOf(*panel), 5));
  const auto* label = plotOf(*panel)->findChild<QLabel*>(QStringLiteral("hoverLabel"));
  const QString bin = QStringLiteral("bin %1, ").arg(104 + answer.tokens[4]);
  QVERIFY2(label->text().contains(bin + direction), qPrintable(label->text()));
  QVERIFY(!label->text().contains(QStringLiteral("token")));

  QVERIFY(!data.runs[0].config.set_from_string("task.recording", "windows"));
  const auto of_files = shownPanel(QStringLiteral("reconstruction"), data);
  QVERIFY2(of_files->caption().endsWith(QStringLiteral("bins 104 to 123 of file 3, class 3.")),
           qPrintable(of_files->caption()));
  const auto of_tokens = shownPanel(QStringLiteral("reconstruction"), fake::inspected(fake::reconstruction(20, 3)));
  QVERIFY2(!of_tokens->caption().contains(QStringLiteral("bins")), qPrintable(of_tokens->caption()));
}

void ReconstructionPanelTest::layerAndChannelAreAskedFor() {
  PanelData data = fake::inspected(fake::reconstruction(20, 3));
  data.runs[0].config.set_from_string("model.kind", "mamba1");
  data.runs[0].config.set_from_string("model.coupling", "etd");
  data.runs[0].config.set_from_string("model.layers", "3");
  const auto panel = shownPanel(QStringLiteral("reconstruction"), data);
  panel->setOptions({{"layer", 2}, {"channel", 7}, {"probe", 3}});
  const InspectRequest request = *panel->wants();
  QCOMPARE(request.what, std::string("reconstruction"));
  QCOMPARE(request.layer, 2);
  QCOMPARE(request.head, 7);
  QCOMPARE(request.probe, 3);
  panel->findChild<QSpinBox*>()->setValue(3);
  QCOMPARE(panel->wants()->head, 2);
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, panel->setOptions({{"channel", -1}}));
}

void ReconstructionPanelTest::misshapenAnswersAreASentence() {
  ReconstructionData answer = fake::reconstruction(20, 3);
  answer.error.pop_back();
  const auto panel = shownPanel(QStringLiteral("reconstruction"), fake::inspected(answer));
  QVERIFY(!panel->hasData());
  QVERIFY2(panel->caption().contains(QStringLiteral("differ in length")), qPrintable(panel->caption()));
}

QTEST_MAIN(ReconstructionPanelTest)
#include "reconstruction_panel_test.moc"
