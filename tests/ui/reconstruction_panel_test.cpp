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
