// A lesson with a real worker, by clicks and keys: train a Motif-Mamba, watch its state flow, hold an input and read
// the fixed point, put a run without a motif beside it, and take the pictures along.
#include <QComboBox>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "ui/form/experiment_form.h"
#include "ui/scene/flow_panel.h"
#include "window_fixture.h"

using namespace mambarium;

namespace {

constexpr int patience = 240'000;

void choose(const WindowFixture& it, const char* id) {
  auto* const box = it.child<QComboBox>("presets");
  const auto& presets = it.window->form().presets();
  const auto wanted = std::ranges::find(presets, id, &Preset::id) - presets.begin();
  box->setFocus();
  for (int presses = 0; box->currentIndex() != wanted && presses < box->count(); ++presses)
    QTest::keyClick(box, Qt::Key_Down);
}

Run* trained(const WindowFixture& it) {
  it.set("task.length", std::int64_t{64});
  it.set("training.batch", std::int64_t{16});
  it.set("training.steps", std::int64_t{60});
  it.click(it.play());
  Run* const run = it.run();
  [&] { QTRY_VERIFY_WITH_TIMEOUT(run->rows().size() > 1 && run->rows().back().step == 60, patience); }();
  return run;
}

double size(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number * number;
  return std::sqrt(sum);
}

}  // namespace

class RealFlowTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aLessonOnFlow() {
    if (!VtkWidget::available()) QSKIP("there is no OpenGL here");
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    choose(it, "motif-three");
    QCOMPARE(it.session->draft().config().integer("model.rank"), 3);
    trained(it);
    QVERIFY(std::isfinite(it.run()->rows().back().motif_loss));

    for (const char* const panel : {"choose-circuit", "choose-flow"}) it.click(it.child<QToolButton>(panel));
    auto* const panel = qobject_cast<FlowPanel*>(it.window->panels().panel(QStringLiteral("flow")));
    QVERIFY(panel);
    it.window->panels().maximise(panel);
    QTRY_VERIFY_WITH_TIMEOUT(panel->hasData() && panel->space() && panel->space()->isVisible(), patience);
    const FlowScene& scene = *panel->space()->scene(0);

    // The sequence runs through the field and z moves with it.
    std::vector<FlowPoint> seen;
    connect(panel, &Panel::tokenHovered, panel, [&] {
      if (scene.ball()) seen.push_back(*scene.ball());
    });
    it.click(it.child<QToolButton>("flowPlay"));
    QTRY_VERIFY_WITH_TIMEOUT(seen.size() > 12, patience);
    it.click(it.child<QToolButton>("flowPlay"));
    QVERIFY(!panel->isPlaying());
    QVERIFY(std::ranges::any_of(seen, [&](const FlowPoint& at) { return at != seen.front(); }));

    // Held, the input stays and its fixed point with it; v is 0 there.
    it.click(it.child<QToolButton>("flowHold"));
    const std::int64_t held = panel->inputToken();
    panel->highlightToken(2);
    QCOMPARE(panel->inputToken(), held);
    const auto& fixed = panel->study()->whole_fixed_point;
    QVERIFY(fixed.has_value());
    const LatentSystem system = system_of(panel->data().inspected->get<FlowData>());
    const AffineField whole = steady_state_field(system, drive_of(panel->data().inspected->get<FlowData>(), held));
    std::vector<double> v(3);
    whole(fixed->z, v);
    QVERIFY2(size(v) < 1e-10, qPrintable(QString::number(size(v))));
    QVERIFY2(panel->caption().contains(QStringLiteral("The input of token %1").arg(held + 1)),
             qPrintable(panel->caption()));

    const QTemporaryDir folder;
    for (const char* const name : {"flow.png", "flow.vtp", "flow.vti"}) {
      const QString path = folder.filePath(QLatin1String(name));
      QCOMPARE(panel->space()->save(path, {640, 480}), std::nullopt);
      QVERIFY(QFileInfo(path).size() > 1000);
    }

    // Another run without a motif, beside the first, seen from the same place.
    it.set("model.motif", std::string("none"));
    trained(it);
    QTRY_COMPARE_WITH_TIMEOUT(it.session->runs().count(), 2, patience);
    QComboBox* beside = nullptr;
    for (auto* const box : panel->findChildren<QComboBox*>())
      if (box->accessibleName().startsWith(QStringLiteral("Run beside"))) beside = box;
    QVERIFY(beside);
    QTRY_COMPARE_WITH_TIMEOUT(beside->count(), 2, patience);
    beside->setFocus();
    QTest::keyClick(beside, Qt::Key_Down);
    QTRY_VERIFY_WITH_TIMEOUT(panel->space()->hasSecond(), patience);
    panel->space()->scene(1)->setView(FlowView::side);
    QCOMPARE(panel->space()->scene(0)->camera(), panel->space()->scene(1)->camera());
  }
};

int main(int argc, char** argv) {
  VtkWidget::prepareApplication();
  QApplication application(argc, argv);
  RealFlowTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "real_flow_test.moc"
