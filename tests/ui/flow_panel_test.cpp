// The flow panel on made-up systems: the field follows the input, the fixed point is the system's, both views show the
// same study.

#include "ui/scene/flow_panel.h"

#include <QProcess>
#include <algorithm>
#include <cmath>
#include <complex>

#include "core/flow/fixed_point.h"
#include "panel_fixture.h"
#include "ui/scene/fixed_point_label.h"
#include "ui/scene/flow_plane_label.h"
#include "ui/scene/flow_plane_marks.h"

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

// The trace of J, J J, ... [r]: with as many of them as eigenvalues, these are known but for their order.
std::vector<double> tracesOfPowers(const AffineField& field) {
  const auto r = static_cast<std::size_t>(field.r);
  std::vector<double> power = field.J, traces;
  for (std::size_t k = 0; k < r; ++k) {
    double trace = 0;
    for (std::size_t i = 0; i < r; ++i) trace += power[i * r + i];
    traces.push_back(trace);
    std::vector<double> next(r * r);
    for (std::size_t i = 0; i < r; ++i)
      for (std::size_t j = 0; j < r; ++j)
        for (std::size_t m = 0; m < r; ++m) next[i * r + j] += power[i * r + m] * field.J[m * r + j];
    power = next;
  }
  return traces;
}

// nullptr where the plane has no label of a fixed point.
FlowPlaneLabel* planeLabel(const Panel& panel) {
  for (QCPLayerable* const child : plotOf(panel)->layer(QStringLiteral("axes"))->children())
    if (auto* const label = dynamic_cast<FlowPlaneLabel*>(child); label && label->realVisibility()) return label;
  return nullptr;
}

FlowPlaneMarks* planeMarks(const Panel& panel) {
  for (QCPLayerable* const child : plotOf(panel)->layer(QStringLiteral("axes"))->children())
    if (auto* const marks = dynamic_cast<FlowPlaneMarks*>(child)) return marks;
  return nullptr;
}

}  // namespace

class FlowPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void theFixedPointIsTheWholeSystems();
  void theFieldFollowsTheToken();
  void theBoxStaysWhileTheInputMoves();
  void anyThreeCoordinatesCanBeSeen();
  void aHeldInputStays();
  void theSentenceFollowsTheToken();
  void thePlaneShowsWhereTheFlowGoes();
  void emptyChoicesAreNotThere();
  void aWindowsBinsAreNamed();
  void aClickReadsTheField();
  void whatWasReadFollowsTheField();
  void theSmallestStateRestsElsewhere();
  void theEmpiricalFieldHasNoFixedPoint();
  void oneNumberIsACurve();
  void theTableHasWhatCame();
  void theEigenvaluesAreTheFields();
  void thePlaneNamesItsFixedPoint();
  void runningThroughVisitsEveryToken();
  void optionsAreKeptAndChecked();
  void brokenAnswersAreASentence();
  void spaceShowsTheSameStudy();
  void twoFieldsShareACamera();
  void savesWhatParaViewOpens();
  void aLowPanelLeavesItsRoomToTheField();
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

void FlowPanelTest::theBoxStaysWhileTheInputMoves() {
  for (const std::int64_t r : {1, 2, 5}) {
    for (const char* const field : {"near_rest", "minimum_norm"}) {
      const FlowData data = fake::flow(6, r, 40);
      const auto panel = shownFlow(data, {{"view", "plane"}, {"field", field}});
      panel->highlightToken(0);
      const Box box = flow(panel).study()->box;
      const auto before = flow(panel).study()->fixed_point->z;
      panel->highlightToken(10);
      QVERIFY(distance(flow(panel).study()->fixed_point->z, before) > 1e-3);
      QVERIFY(flow(panel).study()->box == box);
      for (std::int64_t point = 0; point < 40; ++point) QVERIFY(box.contains(flow(panel).study()->path.point(point)));
    }
  }
}

void FlowPanelTest::anyThreeCoordinatesCanBeSeen() {
  const FlowData data = fake::flow(6, 5, 40);
  const auto panel = shownFlow(data, {{"view", "plane"}, {"which", {4, 2, 0}}});
  const auto seen = [&](std::size_t axis) { return static_cast<float>(flow(panel).study()->path.point(7)[axis]); };
  QCOMPARE(flow(panel).study()->axis_names[0], std::string("z_5"));
  QCOMPARE(seen(0), data.z.data[7 * 5 + 4]);
  QCOMPARE(seen(1), data.z.data[7 * 5 + 2]);
  auto* const second = named<QComboBox>(*panel, QStringLiteral("Coordinate along axis 2"));
  QVERIFY(second->isVisible() && second->count() == 5);
  QVERIFY(!named<QComboBox>(*panel, QStringLiteral("Coordinate along axis 3"))->isVisible());
  second->setCurrentIndex(4);
  Q_EMIT second->activated(4);
  QCOMPARE(panel->options()["which"], (nlohmann::json{2, 4, 0}));  // each once: the two change places
  QCOMPARE(seen(0), data.z.data[7 * 5 + 2]);
  for (const nlohmann::json& bad : {nlohmann::json{0, 1}, nlohmann::json{0, 1, 1}, nlohmann::json{0, 1, -2}})
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, panel->setOptions({{"which", bad}}));
  panel->setOptions({{"which", {0, 7, 1}}});  // z has no eighth coordinate
  QVERIFY(!panel->hasData() && panel->caption().endsWith(u'.'));
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

void FlowPanelTest::theSentenceFollowsTheToken() {
  const auto panel = shownFlow(fake::flow(6, 2, 40), {{"view", "plane"}});
  QSignalSpy changed(panel.get(), &Panel::captionChanged);
  panel->highlightToken(3);
  QCOMPARE(changed.count(), 1);
  QVERIFY(panel->accessibleDescription().contains(QStringLiteral("The input of token 4 ")));
  auto* const mark = plotOf(*panel)->findChild<QCPItemRect*>(QStringLiteral("flowHeld"));
  QVERIFY(mark && !mark->visible());
  panel->setOptions({{"hold", 3}});
  QVERIFY(mark->visible());
  QCOMPARE(mark->topLeft->coords().x(), 3.5);
  changed.clear();
  panel->highlightToken(10);
  QCOMPARE(changed.count(), 1);
  QVERIFY(panel->accessibleDescription().contains(QStringLiteral("The input of token 4 ")));
  QVERIFY(panel->accessibleDescription().contains(QStringLiteral("after token 11 z is at")));
}

void FlowPanelTest::thePlaneShowsWhereTheFlowGoes() {
  const auto panel = shownFlow(fake::flow(6, 2, 40), {{"view", "plane"}});
  const FlowPlaneMarks* const marks = planeMarks(*panel);
  QVERIFY(marks && marks->heads().empty() && !marks->pick());
  panel->setOptions({{"glyphs", true}});
  QVERIFY(marks->heads().size() > 10);
  for (const FlowPlaneMarks::Head& head : marks->heads()) {
    const std::vector<double> v = flow(panel).study()->velocity(std::vector<double>{head.tip.x(), head.tip.y()});
    QVERIFY(QPointF::dotProduct(head.tip - head.before, {v[0], v[1]}) > 0);
  }
  QTest::mouseClick(plotOf(*panel), Qt::LeftButton, {}, mainRect(plotOf(*panel))->rect().center());
  QVERIFY(marks->pick());
  QCOMPARE(marks->pick()->x(), flow(panel).reading()->z[0]);
  const auto* const row = panel->findChild<QLabel*>(QStringLiteral("flowReading"));
  QVERIFY(row->isVisible() && row->wordWrap() && row->text().contains(QStringLiteral("v = (")));
}

void FlowPanelTest::emptyChoicesAreNotThere() {
  const auto panel = shownPanel(QStringLiteral("flow"), {});
  for (const QComboBox* const box : panel->findChildren<QComboBox*>())
    QVERIFY2(!box->isVisible() || box->count() > 1, qPrintable(box->accessibleName()));
}

void FlowPanelTest::aWindowsBinsAreNamed() {
  FlowData data = fake::flow(6, 2, 40);
  data.window = ProbeWindow{0, 300, 6, 0.05};
  const auto panel = shownFlow(data, {{"view", "plane"}, {"hold", 9}});
  panel->highlightToken(3);
  const QString words = panel->caption();
  QVERIFY2(words.contains(QStringLiteral("The input of bin 309 ")) &&
               words.contains(QStringLiteral("after bin 303 z is at")) &&
               words.endsWith(QString::fromUtf8("bins 300 to 339, direction 6 (270°).")),
           qPrintable(words));
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

void FlowPanelTest::whatWasReadFollowsTheField() {
  const FlowData data = fake::flow(6, 2, 40);
  const auto panel = shownFlow(data, {{"view", "plane"}});
  panel->highlightToken(3);
  QCustomPlot* const plot = plotOf(*panel);
  QTest::mouseClick(plot, Qt::LeftButton, {}, mainRect(plot)->rect().center());
  const auto before = *flow(panel).reading();
  panel->highlightToken(10);
  QVERIFY(flow(panel).reading());
  QCOMPARE(flow(panel).reading()->z, before.z);
  QVERIFY(distance(flow(panel).reading()->v, before.v) > 1e-3);
  QCOMPARE(flow(panel).reading()->v, flow(panel).study()->velocity(before.z));
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
  QCOMPARE(table.columns.size(), 3 + 2 + 5 + 2 * 2);
  QCOMPARE(table.rows.size(), 12u);
  QCOMPARE(table.rows[7][3].toFloat(), data.z.data[14]);
  QCOMPARE(table.rows[7][9].toFloat(), data.drive.data[7 * 5 + 4]);
}

void FlowPanelTest::theEigenvaluesAreTheFields() {
  for (const std::int64_t r : {1, 2, 3}) {
    const FlowData data = fake::flow(6, r, 12);
    const LatentSystem system = system_of(data);
    const auto panel = shownFlow(data, {{"view", "plane"}});
    for (const char* const choice : {"near_rest", "steady_state", "minimum_norm"}) {
      // The rows of the made-up Q span two dimensions: with three of them Q^+ is all rounding.
      if (r == 3 && choice != std::string("steady_state")) continue;
      panel->setOptions({{"field", choice}});
      const std::vector<double> b = drive_of(data, 11);
      const AffineField field =
          choice == std::string("steady_state") ? steady_state_field(system, b) : minimum_norm_field(system, b);
      const PanelTable table = panel->table();
      const auto first = static_cast<std::size_t>(3 + r + 6);
      QCOMPARE(table.columns.size(), static_cast<qsizetype>(first) + 2 * r);
      QCOMPARE(table.columns[static_cast<qsizetype>(first)], QStringLiteral("lambda1_real"));
      std::vector<std::complex<double>> eigenvalues;
      for (auto at = static_cast<qsizetype>(first); at < table.columns.size(); at += 2)
        eigenvalues.emplace_back(table.rows[4][at].toDouble(), table.rows[4][at + 1].toDouble());
      const std::vector<double> traces = tracesOfPowers(field);
      for (std::size_t k = 0; k < traces.size(); ++k) {
        std::complex<double> sum = 0;
        double scale = 0;
        for (const auto& eigenvalue : eigenvalues) {
          sum += std::pow(eigenvalue, static_cast<int>(k + 1));
          scale += std::pow(std::abs(eigenvalue), static_cast<int>(k + 1));
        }
        QVERIFY(std::abs(sum - traces[k]) < 1e-10 * scale);  // rounding of a 3 x 3 matrix
      }
      QVERIFY2(panel->caption().contains(eigenvalueText(eigenvalues)), qPrintable(panel->caption()));
    }
    panel->setOptions({{"field", "empirical"}});
    QCOMPARE(panel->table().columns.size(), static_cast<qsizetype>(3 + r + 6));
  }
}

void FlowPanelTest::thePlaneNamesItsFixedPoint() {
  for (const std::int64_t r : {1, 2, 3}) {
    const auto panel = shownFlow(fake::flow(6, r, 40), {{"view", "plane"}});
    const auto& study = *flow(panel).study();
    QVERIFY(study.inside);
    const FlowPlaneLabel* const label = planeLabel(*panel);
    QVERIFY(label);
    QCOMPARE(label->type(), QString::fromStdString(to_text(study.fixed_point->stability)));
    QCOMPARE(label->eigenvalues(), eigenvalueText(study.fixed_point->eigenvalues));
    QVERIFY(label->eigenvalues().startsWith(QStringLiteral("λ = ")));
    const QImage with = plotOf(*panel)->toPixmap(640, 360).toImage();
    planeLabel(*panel)->clear();
    QVERIFY(plotOf(*panel)->toPixmap(640, 360).toImage() != with);
    panel->setOptions({{"field", "empirical"}});
    QVERIFY(!planeLabel(*panel));
  }
}

void FlowPanelTest::runningThroughVisitsEveryToken() {
  const auto panel = shownFlow(fake::flow(6, 2, 12), {{"view", "plane"}});
  QSignalSpy hovered(panel.get(), &Panel::tokenHovered);
  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("Run through")), Qt::LeftButton);
  QTRY_VERIFY_WITH_TIMEOUT(!flow(panel).isPlaying(), 60'000);
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
  QVERIFY(scene.picture().trajectories.back().seeded && !scene.picture().trajectories.front().seeded);
  QCOMPARE(scene.picture().fixed_point.has_value(), flow(panel).study()->inside);
  if (scene.picture().fixed_point)
    QCOMPARE(scene.picture().fixed_point->eigenvalues, flow(panel).study()->fixed_point->eigenvalues);
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
  QVERIFY(left.picture().speed == right.picture().speed);  // a colour is one speed in both
  left.setView(FlowView::side);
  QCOMPARE(right.camera(), left.camera());
  right.setView(FlowView::top);
  QCOMPARE(left.camera(), right.camera());
  // One frame of a turntable has both, as the picture of the view does.
  const QTemporaryDir folder;
  const QString whole = folder.filePath(QStringLiteral("whole.png"));
  QCOMPARE(flow(panel).space()->turntable(folder.path(), 2, {200, 150}), std::nullopt);
  QCOMPARE(flow(panel).space()->save(whole, {200, 150}), std::nullopt);
  const QImage frame(folder.filePath(QStringLiteral("frame-000.png")));
  QVERIFY(frame.width() > 2 * 200 && frame.height() > 150);
  QCOMPARE(frame, QImage(whole));
  const QImage back(folder.filePath(QStringLiteral("frame-001.png")));
  QCOMPARE(back.size(), frame.size());
  for (const int side : {0, 1}) {
    const QRect half(side * (frame.width() - 200), frame.height() - 150, 200, 150);
    QVERIFY(back.copy(half) != frame.copy(half));
  }
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
  const auto* const note = panel->findChild<QLabel*>(QStringLiteral("flowNote"));
  QVERIFY(!note->isVisible());
  Q_EMIT flow(panel).space()->saveFailed(QStringLiteral("It cannot be written."));
  QVERIFY(note->isVisible());
  QCOMPARE(note->text(), QStringLiteral("It cannot be written."));
  QVERIFY(panel->caption().contains(QStringLiteral("Export draws the plane")));
}

void FlowPanelTest::aLowPanelLeavesItsRoomToTheField() {
  if (!VtkWidget::available()) QSKIP("there is no OpenGL here");
  const auto panel = shownFlow(fake::flow(6, 3, 40), {{"view", "space"}});
  const auto* const camera = panel->findChild<QWidget*>(QStringLiteral("flowCamera"));
  const auto* const row = panel->findChild<QLabel*>(QStringLiteral("flowReading"));
  const auto* const axes = named<QComboBox>(*panel, QStringLiteral("Axes"));
  panel->setFixedSize(640, 200);
  QTRY_VERIFY(!camera->isVisible() && !row->isVisible() && !axes->isVisible());
  QTRY_VERIFY(flow(panel).space()->widget(0)->height() >= 80);
  panel->setOptions({{"principal", true}});
  QVERIFY2(axes->isVisible(), "what was chosen is to be seen");
  panel->setFixedSize(640, 520);
  QTRY_VERIFY(camera->isVisible() && row->isVisible() && axes->isVisible());
}

int main(int argc, char** argv) {
  VtkWidget::prepareApplication();
  QApplication application(argc, argv);
  FlowPanelTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "flow_panel_test.moc"
