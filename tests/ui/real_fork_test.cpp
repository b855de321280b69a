// Taking a part out while a real worker trains: the window forks the run, and undo takes the fork back.
#include <QCheckBox>
#include <QDir>

#include "core/contract/run_folder.h"
#include "session_fixture.h"
#include "ui/form/experiment_form.h"
#include "ui/run_row.h"
#include "ui/runs_view.h"
#include "window_fixture.h"

using namespace mambarium;

namespace {

constexpr int patience = 120'000;
constexpr std::int64_t endless = 100'000;

void train(const WindowFixture& it) {
  it.makeSmall(endless);
  it.click(it.play());
  QTRY_VERIFY_WITH_TIMEOUT(it.run() && it.run()->rows().size() >= 3, patience);
}

// On the indicator: a box may be wider than what answers to a click.
void clickBox(const WindowFixture& it, const char* name, Qt::KeyboardModifiers modifiers = {}) {
  auto* const box = it.child<QCheckBox>(name);
  QTest::mouseClick(box, Qt::LeftButton, modifiers, QPoint(8, box->height() / 2));
}

void undo(const WindowFixture& it) {
  QTest::keyClick(it.window.get(), Qt::Key_Z, Qt::ControlModifier);
}

bool saysThatItForks(const WindowFixture& it) {
  return it.child<QLabel>("fork-hint")->isVisibleTo(&it.window->form());
}

const Panel* gapPanel(const WindowFixture& it) {
  return it.window->panels().panel(QStringLiteral("gap"));
}

// The steps of one run's curve in the gap panel.
std::vector<std::int64_t> curve(const WindowFixture& it, const QString& title) {
  std::vector<std::int64_t> steps;
  for (const QStringList& row : gapPanel(it)->table().rows)
    if (row[0] == title) steps.push_back(row[1].toLongLong());
  return steps;
}

}  // namespace

class RealForkTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void takingTheConvolutionOutIsOneClick() {
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    train(it);
    Run* const parent = it.run();
    QVERIFY(saysThatItForks(it));
    clickBox(it, "model.conv.all");
    QCOMPARE(it.session->draft().config().text("model.conv"), std::string("none"));
    QCOMPARE(it.session->runs().count(), 2);
    Run* const child = it.run();
    QVERIFY(child != parent && saysThatItForks(it));
    QTRY_VERIFY_WITH_TIMEOUT(child->isTraining() && child->rows().size() >= 3, patience);
    const std::int64_t step = child->fork()->step;
    QVERIFY(step >= 50);
    QCOMPARE(child->rows().front().step, step);

    QTRY_COMPARE_WITH_TIMEOUT(gapPanel(it)->data().runs.size(), std::size_t{2}, patience);
    QTRY_VERIFY_WITH_TIMEOUT(curve(it, child->title()).size() >= 3, patience);
    QCOMPARE(curve(it, child->title()).front(), step);
    QCOMPARE(curve(it, parent->title()).front(), 0);
    const std::int64_t parent_stood = parent->rows().back().step, child_stood = child->rows().back().step;
    QTRY_VERIFY_WITH_TIMEOUT(parent->rows().back().step > parent_stood && child->rows().back().step > child_stood,
                             patience);

    // Both are evaluated on the same test set, and its predictors say so.
    QCOMPARE(child->rows().front().add_beta_loss, parent->rows().front().add_beta_loss);
    const QString said = it.window->runsView().rowOf(child)->findChild<QLabel*>(QStringLiteral("run-title"))->text();
    QVERIFY2(said.contains(QStringLiteral("conv none, from step %1").arg(step)), qPrintable(said));
    const ReadRunFolder on_disk = read_run_folder(child->folder().toStdString());
    QVERIFY2(on_disk.problems.empty(), to_string(on_disk.problems).c_str());
    QVERIFY(on_disk.run.manifest.fork && on_disk.run.manifest.fork->step == step);
    QCOMPARE(QString::fromStdString(on_disk.run.manifest.fork->parent), QDir(parent->folder()).dirName());

    const QString folder = child->folder();
    undo(it);
    QCOMPARE(it.session->runs().count(), 1);
    QCOMPARE(it.run(), parent);
    QCOMPARE(it.session->draft().config().text("model.conv"), std::string("x,B,C"));
    QTRY_COMPARE_WITH_TIMEOUT(gapPanel(it)->data().runs.size(), std::size_t{1}, patience);
    QTRY_COMPARE_WITH_TIMEOUT(childProcesses(), 1, patience);
    QVERIFY(parent->isTraining() && it.notices().empty());
    QVERIFY(QDir(folder).exists());
  }

  void withShiftItBeginsAtStep0() {
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    train(it);
    Run* const parent = it.run();
    clickBox(it, "model.gate", Qt::ShiftModifier);
    Run* const child = it.run();
    QVERIFY(child != parent);
    QTRY_VERIFY_WITH_TIMEOUT(child->isTraining() && child->rows().size() >= 2, patience);
    QCOMPARE(child->rows().front().step, 0);
    QVERIFY(!child->fork() && !child->config().boolean("model.gate"));
    QVERIFY(parent->isTraining());
    undo(it);
    QCOMPARE(it.run(), parent);
    QTRY_COMPARE_WITH_TIMEOUT(childProcesses(), 1, patience);
  }

  void aPausedRunForksToo() {
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    train(it);
    Run* const parent = it.run();
    it.click(it.play());
    QTRY_COMPARE_WITH_TIMEOUT(parent->state(), Run::State::paused, patience);
    clickBox(it, "model.gate");
    Run* const child = it.run();
    QTRY_COMPARE_WITH_TIMEOUT(child->state(), Run::State::paused, patience);
    QCOMPARE(child->step(), parent->step());
    QCOMPARE(child->rows().size(), std::size_t{1});
    it.click(it.play());
    QTRY_VERIFY_WITH_TIMEOUT(child->step() > parent->step(), patience);
    QVERIFY(it.notices().empty());
  }

  void tenForksInARowAndUndoneLeaveNoProcess() {
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    train(it);
    Run* const parent = it.run();
    for (int time = 0; time < 10; ++time) {
      clickBox(it, time % 2 == 0 ? "model.conv.all" : "model.gate");
      QCOMPARE(it.session->runs().count(), 2 + time);
      if (time % 3 == 0) QTest::qWait(100 * time);
    }
    for (int time = 0; time < 10; ++time) undo(it);
    QCOMPARE(it.session->runs().count(), 1);
    QCOMPARE(it.run(), parent);
    QTRY_COMPARE_WITH_TIMEOUT(childProcesses(), 1, patience);
    const std::int64_t stood = parent->step();
    QTRY_VERIFY_WITH_TIMEOUT(parent->step() > stood, patience);
    it.close();
    QTRY_COMPARE_WITH_TIMEOUT(childProcesses(), 0, patience);
  }
};

QTEST_MAIN(RealForkTest)
#include "real_fork_test.moc"
