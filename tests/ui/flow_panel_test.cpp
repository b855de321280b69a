// The flow panel on made-up systems: the field follows the input, the fixed point is the system's, both views show the
// same study.

#include "ui/scene/flow_panel.h"

#include <QProcess>
#include <cmath>

#include "core/flow/fixed_point.h"
#include "panel_fixture.h"

using namespace mambarium;

namespace {

std::unique_ptr<Panel> shownFlow(const FlowData& data, const nlohmann::json& options) {
  auto panel = shownPanel(QStringLiteral("flow"), fake::inspected(data));
  panel->setOptions(options);
  QTest::qWait(30);
  return panel;
}

FlowPanel& flow(const std::unique_ptr<Panel>& panel) {
  return static_cast<FlowPanel&>(*panel);
}

// z at which the whole system rests while this token's input stands still, by its own equations.
std::vector<double> restOf(const FlowData& data, std::int64_t token) {
  const LatentSystem system = system_of(data);
  const auto rest = fixed_point(full_field(system, drive_of(data, token)));
  return read_state(system, rest->z);
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

}  // namespace

class FlowPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void theFixedPointIsTheWholeSystems();
  void theFieldFollowsTheToken();
  void aHeldInputStays();
  void aClickReadsTheField();
  void theSmallestStateRestsElsewhere();
  void theEmpiricalFieldHasNoFixedPoint();
  void oneNumberIsACurve();
  void theTableHasWhatCame();
  void runningThroughVisitsEveryToken();
  void optionsAreKeptAndChecked();
  void brokenAnswersAreASentence();
  void spaceShowsTheSameStudy();
  void twoFieldsShareACamera();
  void savesWhatParaViewOpens();
};

void FlowPanelTest::theFixedPointIsTheWholeSystems() {
  for (const std::int64_t r : {1, 2, 3}) {
    const FlowData data = fake::flow(6, r, 40);
    const auto panel = shownFlow(data, {{"view", "plane"}});
    for (const int token : {0, 7, 20}) {
      panel->highlightToken(token);
      const auto& study = flow(panel).study();
      QVERIFY(study->whole_fixed_point);
      QVERIFY(distance(study->whole_fixed_point->z, restOf(data, token)) < 1e-10);
      std::vector<double> v(static_cast<std::size_t>(r));
      if (r <= 2) {
        const auto& seen = study->fixed_point->z;
        QVERIFY(distance(study->velocity(seen), std::vector<double>(seen.size())) < 1e-10);
      }
    }
  }
}

void FlowPanelTest::theFieldFollowsTheToken() {
  const FlowData data = fake::flow(6, 2, 40);
  const auto panel = shownFlow(data, {{"view", "plane"}});
  panel->highlightToken(3);
  const auto before = flow(panel).study()->whole_fixed_point->z;
  const QString words = panel->caption();
  QVERIFY2(words.contains(QStringLiteral("after token 4 z is at")), qPrintable(words));
  panel->highlightToken(10);
  QVERIFY(distance(flow(panel).study()->whole_fixed_point->z, before) > 0.01);
  QVERIFY(panel->caption() != words);
}

void FlowPanelTest::aHeldInputStays() {
  const FlowData data = fake::flow(6, 2, 40);
  const auto panel = shownFlow(data, {{"view", "plane"}});
  panel->highlightToken(3);
  const auto before = flow(panel).study()->whole_fixed_point->z;
  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("Hold")), Qt::LeftButton);
  panel->highlightToken(10);
  QCOMPARE(flow(panel).inputToken(), 3);
  QCOMPARE(flow(panel).study()->whole_fixed_point->z, before);
  QVERIFY(panel->caption().contains(QStringLiteral("The input of token 4")));
  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("Hold")), Qt::LeftButton);
  QCOMPARE(flow(panel).inputToken(), 10);
}

void FlowPanelTest::aClickReadsTheField() {
  const FlowData data = fake::flow(6, 2, 40);
  const auto panel = shownFlow(data, {{"view", "plane"}});
  QCustomPlot* const plot = plotOf(*panel);
  const QPoint at = mainRect(plot)->rect().center() + QPoint(20, -15);
  QTest::mouseClick(plot, Qt::LeftButton, {}, at);
  const auto& reading = flow(panel).reading();
  QVERIFY(reading);
  QVERIFY(std::abs(mainRect(plot)->axis(QCPAxis::atBottom)->coordToPixel(reading->z[0]) - at.x()) < 0.5);
  QVERIFY(std::abs(mainRect(plot)->axis(QCPAxis::atLeft)->coordToPixel(reading->z[1]) - at.y()) < 0.5);
  QCOMPARE(reading->v, flow(panel).study()->velocity(reading->z));
  QVERIFY(panel->findChild<QLabel*>(QStringLiteral("flowReading"))->text().startsWith(QStringLiteral("z = (")));
}

void FlowPanelTest::theSmallestStateRestsElsewhere() {
  const FlowData data = fake::flow(6, 2, 40);
  const auto panel = shownFlow(data, {{"view", "plane"}, {"field", "minimum_norm"}, {"hold", 5}});
  QVERIFY(distance(flow(panel).study()->whole_fixed_point->z, restOf(data, 5)) > 1e-3);
  QVERIFY(panel->caption().contains(QStringLiteral("which is not where the model does")));
}

void FlowPanelTest::theEmpiricalFieldHasNoFixedPoint() {
  const auto panel = shownFlow(fake::flow(6, 2, 40), {{"view", "plane"}, {"field", "empirical"}});
  QVERIFY(!flow(panel).study()->fixed_point);
  QVERIFY(flow(panel).study()->lines.size() > 10);
  QVERIFY(panel->caption().contains(QStringLiteral("mean of the sequence")));
}

void FlowPanelTest::oneNumberIsACurve() {
  const auto panel = shownFlow(fake::flow(6, 1, 40), {{"view", "space"}});
  QCOMPARE(flow(panel).study()->dimension, 1);
  QVERIFY(flow(panel).space() == nullptr);
  QVERIFY(legendTexts(*panel).contains(QStringLiteral("v(z)")));
  QVERIFY(panel->caption().contains(QStringLiteral("stable node")));
}

void FlowPanelTest::theTableHasWhatCame() {
  const FlowData data = fake::flow(5, 2, 12);
  const auto panel = shownFlow(data, {{"view", "plane"}});
  const PanelTable table = panel->table();
  QCOMPARE(table.columns.size(), 3 + 2 + 5);
  QCOMPARE(table.rows.size(), 12u);
  QCOMPARE(table.rows[7][3].toFloat(), data.z.data[14]);
  QCOMPARE(table.rows[7][9].toFloat(), data.drive.data[7 * 5 + 4]);
}

void FlowPanelTest::runningThroughVisitsEveryToken() {
  const auto panel = shownFlow(fake::flow(6, 2, 12), {{"view", "plane"}});
  QSignalSpy hovered(panel.get(), &Panel::tokenHovered);
  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("Run through")), Qt::LeftButton);
  QTRY_VERIFY_WITH_TIMEOUT(!flow(panel).isPlaying(), 5000);
  QCOMPARE(hovered.count(), 12);
  for (int t = 0; t < 12; ++t) QCOMPARE(hovered.at(t).at(0).toInt(), t);
}

void FlowPanelTest::optionsAreKeptAndChecked() {
  const auto panel =
      shownFlow(fake::flow(6, 3, 20), {{"view", "plane"}, {"principal", true}, {"hold", 4}, {"lines", 50}});
  const nlohmann::json options = panel->options();
  QCOMPARE(options["view"], "plane");
  QCOMPARE(options["hold"], 4);
  QCOMPARE(flow(panel).study()->lines.size(), 50u);
  QVERIFY(flow(panel).study()->axis_names[0].starts_with("axis 1"));
  for (const nlohmann::json& bad :
       {nlohmann::json{{"view", "sphere"}}, nlohmann::json{{"lines", -1}}, nlohmann::json{{"hold", 1.5}}})
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, panel->setOptions(bad));
  QCOMPARE(panel->options(), options);
}

void FlowPanelTest::brokenAnswersAreASentence() {
  FlowData data = fake::flow(6, 2, 20);
  data.A.data[2] = 0;
  const auto without_decay = shownPanel(QStringLiteral("flow"), fake::inspected(data));
  QVERIFY(!without_decay->hasData());
  QVERIFY(without_decay->caption().endsWith(u'.'));
  data = fake::flow(6, 2, 20);
  data.z.shape = {10, 4};
  const auto misshapen = shownPanel(QStringLiteral("flow"), fake::inspected(data));
  QVERIFY2(misshapen->caption().contains(QStringLiteral("flow data")), qPrintable(misshapen->caption()));
}

void FlowPanelTest::spaceShowsTheSameStudy() {
  if (!VtkWidget::available()) QSKIP("there is no OpenGL here");
  const FlowData data = fake::flow(6, 3, 40);
  const auto panel = shownFlow(data, {{"view", "space"}});
  QVERIFY(flow(panel).space() != nullptr && flow(panel).space()->isVisible());
  const FlowScene& scene = *flow(panel).space()->scene(0);
  QCOMPARE(scene.picture().dimension, 3);
  QVERIFY(scene.picture().lines.size() > 60);
  panel->highlightToken(9);
  QVERIFY(scene.ball().has_value());
  for (std::size_t axis = 0; axis < 3; ++axis)
    QVERIFY(std::abs((*scene.ball())[axis] - static_cast<double>(data.z.data[9 * 3 + axis])) < 1e-6);
  const QPointF at = scene.displayOf(*scene.ball());
  QTest::mouseClick(flow(panel).space()->widget(0), Qt::LeftButton, {}, at.toPoint());
  QVERIFY(flow(panel).reading().has_value());
  named<QComboBox>(*panel, QStringLiteral("View of the flow"))->setCurrentIndex(0);
  Q_EMIT named<QComboBox>(*panel, QStringLiteral("View of the flow"))->activated(0);
  QVERIFY(!flow(panel).space()->isVisible());
  QCOMPARE(flow(panel).study()->dimension, 2);
}

void FlowPanelTest::twoFieldsShareACamera() {
  if (!VtkWidget::available()) QSKIP("there is no OpenGL here");
  const FlowData first = fake::flow(6, 3, 40), second = fake::flow(7, 3, 40);
  PanelData data = fake::inspected(first);
  data.runs.push_back(data.runs.front());
  data.runs[0].folder = "runs/first";
  data.runs[1].folder = "runs/second";
  data.runs[1].title = "the other";
  const auto panel = shownPanel(QStringLiteral("flow"), data);
  panel->setOptions({{"view", "space"}});
  data.current = 1;
  data.inspected = second;
  panel->show(data);
  auto* const beside = named<QComboBox>(*panel, QStringLiteral("Run beside"));
  QTRY_COMPARE(beside->count(), 2);
  beside->setCurrentIndex(1);
  Q_EMIT beside->activated(1);
  QVERIFY(flow(panel).space()->hasSecond());
  FlowScene &left = *flow(panel).space()->scene(0), &right = *flow(panel).space()->scene(1);
  left.setView(FlowView::side);
  QCOMPARE(right.camera(), left.camera());
  right.setView(FlowView::top);
  QCOMPARE(left.camera(), right.camera());
  beside->setCurrentIndex(0);
  Q_EMIT beside->activated(0);
  QVERIFY(!flow(panel).space()->hasSecond());
}

void FlowPanelTest::savesWhatParaViewOpens() {
  if (!VtkWidget::available()) QSKIP("there is no OpenGL here");
  const auto panel = shownFlow(fake::flow(6, 3, 40), {{"view", "space"}});
  const QTemporaryDir folder;
  for (const char* const name : {"flow.png", "flow.vtp", "flow.vti"}) {
    const QString path = folder.filePath(QLatin1String(name));
    QCOMPARE(flow(panel).space()->save(path, {400, 300}), std::nullopt);
    QVERIFY(QFileInfo(path).size() > 1000);
  }
  QCOMPARE(QImage(folder.filePath(QStringLiteral("flow.png"))).size(), QSize(400, 300));
  QVERIFY(flow(panel).space()->save(folder.filePath(QStringLiteral("flow.obj")))->contains(QStringLiteral(".vtp")));
  QVERIFY(flow(panel).space()->save(QStringLiteral("/nowhere/flow.png")).has_value());
}

int main(int argc, char** argv) {
  VtkWidget::prepareApplication();
  QApplication application(argc, argv);
  FlowPanelTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "flow_panel_test.moc"
