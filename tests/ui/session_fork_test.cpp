// Forks of the run that trains, against the fake worker: no widgets.
#include <QSignalSpy>
#include <QTest>

#include "fake_machine.h"
#include "session_fixture.h"
#include "ui/session/application_settings.h"

using namespace mambarium;

namespace {

constexpr int patience = 60'000;
const std::string none = "none";

QString nameOf(const QString& folder) {
  return QDir(folder).dirName();
}

}  // namespace

class SessionForkTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { machine_ = std::make_unique<FakeMachine>(); }

  void anEditOfAPartForksAndBothTrain() {
    const auto session = training(60);
    Run* const parent = session->runs().current();
    QVERIFY(session->forksParts());
    const std::int64_t clicked_at = parent->step();
    session->draft().edit("model.conv", none);
    QCOMPARE(session->runs().count(), 2);
    Run* const child = session->runs().current();
    QVERIFY(child != parent && child->wantsToTrain());
    QVERIFY(child->paletteIndex() != parent->paletteIndex());
    QVERIFY(session->draftIsCurrentRun() && session->forksParts());
    QTRY_VERIFY(child->isTraining() && child->step() > child->fork()->step + 20);
    QVERIFY(parent->isTraining());
    QVERIFY(child->fork()->step >= clicked_at);
    QCOMPARE(child->rows().front().step, child->fork()->step);
    QCOMPARE(child->config().text("model.conv"), none);
    QCOMPARE(parent->config().text("model.conv"), std::string("x,B,C"));
    QCOMPARE(QString::fromStdString(child->fork()->parent), nameOf(parent->folder()));
    QCOMPARE(child->title(),
             QStringLiteral("conv none, from step %1 of %2").arg(child->fork()->step).arg(parent->title()));
    QCOMPARE(child->series().parent, child->fork()->parent);
    const std::int64_t before = parent->step();
    QTRY_VERIFY(parent->step() > before + 20);
    QCOMPARE(machine_->count(QStringLiteral("open_fork")), 1);
  }

  void undoTakesTheForkBackAndRedoForksAgain() {
    const auto session = training(20);
    Run* const parent = session->runs().current();
    session->draft().edit("model.gate", false);
    QTRY_VERIFY(session->runs().current()->isTraining());
    const QString folder = session->runs().current()->folder();
    const std::int64_t first_step = session->runs().current()->fork()->step;
    QTRY_VERIFY(parent->step() > first_step + 20);

    session->draft().history().undo();
    QCOMPARE(session->runs().count(), 1);
    QCOMPARE(session->runs().current(), parent);
    QVERIFY(session->draft().config().boolean("model.gate"));
    QVERIFY(session->draftIsCurrentRun() && parent->isTraining());
    QTRY_COMPARE(childProcesses(), 1);
    QVERIFY2(QDir(folder).exists(), "what was trained stays on disk");

    QVERIFY(session->draft().history().canRedo());
    session->draft().history().redo();
    QCOMPARE(session->runs().count(), 2);
    QVERIFY(!session->draft().config().boolean("model.gate"));
    QTRY_VERIFY(session->runs().current()->isTraining());
    QVERIFY(session->runs().current()->fork()->step > first_step);
    QVERIFY(session->runs().current()->folder() != folder);
  }

  void withShiftItBeginsAtStep0() {
    const auto session = training(60);
    Run* const parent = session->runs().current();
    session->draft().edit("model.conv", none, Beginning::step_0);
    Run* const child = session->runs().current();
    QCOMPARE(session->runs().count(), 2);
    QTRY_VERIFY(child->isTraining() && child->step() > 5);
    QVERIFY(parent->isTraining() && !child->fork());
    QCOMPARE(child->rows().front().step, 0);
    QCOMPARE(child->config().integer("training.seed"), parent->config().integer("training.seed"));
    session->draft().history().undo();
    QCOMPARE(session->runs().count(), 1);
    QCOMPARE(session->runs().current(), parent);
    QTRY_COMPARE(childProcesses(), 1);
  }

  void aPausedRunForksWhereItStandsAndBothRest() {
    const auto session = training(20);
    Run* const parent = session->runs().current();
    session->pause();
    QTRY_COMPARE(parent->state(), Run::State::paused);
    const std::int64_t stood = parent->step();
    QVERIFY(session->forksParts());
    session->draft().edit("model.conv", none);
    Run* const child = session->runs().current();
    QTRY_COMPARE(child->state(), Run::State::paused);
    QCOMPARE(child->step(), stood);
    QCOMPARE(child->fork()->step, stood);
    QTRY_VERIFY2(!parent->hasWorker(), "a paused run that is not looked at keeps a process");
    session->play();
    QTRY_VERIFY(child->step() > stood);
    QCOMPARE(session->runs().count(), 2);
    QVERIFY(!parent->isTraining());
  }

  void forksOfForksAndUndoInReverse() {
    const auto session = training(60);
    Run* const parent = session->runs().current();
    session->draft().edit("model.conv", none);
    Run* const child = session->runs().current();
    session->draft().edit("model.gate", false);  // faster than any worker answers
    Run* const grandchild = session->runs().current();
    session->draft().edit("model.readout", std::string("l1"));
    QCOMPARE(session->runs().count(), 4);
    for (Run* const run : {parent, child, grandchild, session->runs().current()}) QTRY_VERIFY(run->isTraining());
    QCOMPARE(QString::fromStdString(grandchild->fork()->parent), nameOf(child->folder()));
    QCOMPARE(grandchild->fork()->changes, std::string("gate off"));
    QVERIFY(grandchild->fork()->step >= child->fork()->step);
    for (Run* const back_at : {grandchild, child, parent}) {
      session->draft().history().undo();
      QCOMPARE(session->runs().current(), back_at);
      QVERIFY(session->draftIsCurrentRun());
    }
    QCOMPARE(session->runs().count(), 1);
    QTRY_COMPARE(childProcesses(), 1);
  }

  void undoneBeforeItBegan() {
    const auto session = training(60);
    Run* const parent = session->runs().current();
    for (int time = 0; time < 10; ++time) {
      session->draft().edit("model.conv", none);
      if (time % 2 == 1) QTest::qWait(20 * time);
      session->draft().history().undo();
      QCOMPARE(session->runs().count(), 1);
      QCOMPARE(session->runs().current(), parent);
    }
    QVERIFY(parent->isTraining());
    QTRY_COMPARE(childProcesses(), 1);
  }

  void theParentIsRemovedWhileItsForkWaits() {
    auto session = training(120);
    session->draft().edit("model.conv", none);
    Run* const child = session->runs().current();
    session->removeRun(session->runs().at(0));
    QCOMPARE(session->runs().count(), 1);
    QTRY_VERIFY(child->isTraining());
    QVERIFY(child->fork()->step >= 100);
    session->draft().history().undo();
    QCOMPARE(session->runs().count(), 0);
    QCOMPARE(session->draft().config().text("model.conv"), std::string("x,B,C"));
    session->draft().history().redo();
    QCOMPARE(session->runs().count(), 0);  // there is nothing to fork: the settings alone come back
    QCOMPARE(session->draft().config().text("model.conv"), none);
    QTRY_VERIFY(childProcesses() <= 1);  // the idle one
  }

  void theForkIsRemovedBeforeItIsUndone() {
    const auto session = training(20);
    Run* const parent = session->runs().current();
    session->draft().edit("model.conv", none);
    QTRY_VERIFY(session->runs().current()->isTraining());
    session->removeRun(session->runs().current());
    QCOMPARE(session->runs().current(), parent);
    while (session->draft().history().canUndo()) session->draft().history().undo();
    QCOMPARE(session->runs().count(), 1);
    QCOMPARE(session->runs().current(), parent);
  }

  void aParentThatDiesGivesItsLastCheckpoint() {
    const auto session = training(120, QStringLiteral("--hang-on checkpoint"));
    Run* const parent = session->runs().current();
    session->draft().edit("model.conv", none);
    Run* const child = session->runs().current();
    QVERIFY(signalWorker(*parent, SIGKILL));
    QTRY_COMPARE(parent->state(), Run::State::died);
    QTRY_VERIFY(child->isTraining());
    QVERIFY(!parent->checkpoints().empty());
    QCOMPARE(child->fork()->step, parent->checkpoints().back());
  }

  void aParentThatDiesWithoutOneIsAClearProblem() {
    const auto session = training(20, QStringLiteral("--hang-on checkpoint"), 100000);
    Run* const parent = session->runs().current();
    QSignalSpy problems(session.get(), &Session::runProblem);
    session->draft().edit("model.conv", none);
    Run* const child = session->runs().current();
    QVERIFY(signalWorker(*parent, SIGKILL));
    QTRY_COMPARE(child->state(), Run::State::failed);
    QCOMPARE(problems.count(), 1);
    QVERIFY(problems[0][1].toString().contains(QStringLiteral("before it had a checkpoint")));
    session->draft().history().undo();
    QCOMPARE(session->runs().current(), parent);
  }

  void whatIsNoPartWaitsForPlay_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<bool>("then_forks");  // does an edit of a part fork after that?
    QTest::newRow("task") << "task.order"
                          << "2" << false;
    QTest::newRow("model") << "model.d_model"
                           << "16" << false;
    QTest::newRow("rate") << "training.lr"
                          << "0.01" << true;
  }
  void whatIsNoPartWaitsForPlay() {
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(bool, then_forks);
    const auto session = training(20);
    session->draft().editText(key.toStdString(), value);
    session->draft().settle(key.toStdString());
    QCOMPARE(session->runs().count(), 1);
    QVERIFY(!session->draftIsCurrentRun());
    QCOMPARE(session->forksParts(), then_forks);
    session->draft().edit("model.gate", false);
    QCOMPARE(session->runs().count(), then_forks ? 2 : 1);
  }

  void aTypedNumberForksWhenItIsSettled() {
    const auto session = training(20);
    session->draft().editText("model.d_conv", QStringLiteral("1"));
    session->draft().editText("model.d_conv", QStringLiteral("16"));
    QCOMPARE(session->runs().count(), 1);
    session->draft().settle("model.d_conv");
    session->draft().settle("model.d_conv");
    QCOMPARE(session->runs().count(), 2);
    QTRY_VERIFY(session->runs().current()->isTraining());
    QCOMPARE(session->runs().current()->config().integer("model.d_conv"), 16);
    session->draft().history().undo();
    QCOMPARE(session->runs().count(), 1);
    QCOMPARE(session->draft().config().integer("model.d_conv"), 2);
  }

  void nothingForksBeforeTheFirstStepOrAfterTheLast() {
    const auto session = sessionOn(machine_->machine(QStringLiteral("--speed 4000")));
    session->draft().edit("model.gate", false);
    QVERIFY(!session->forksParts() && session->runs().count() == 0);
    session->draft().edit("training.steps", std::int64_t{100});
    session->play();
    QTRY_COMPARE(session->runs().current()->state(), Run::State::finished);
    QVERIFY(!session->forksParts());
    session->draft().edit("model.gate", true);
    QCOMPARE(session->runs().count(), 1);
  }

  void resetGoesBackToWhereTheForkBegan() {
    const auto session = training(20);
    session->draft().edit("model.conv", none);
    Run* const child = session->runs().current();
    QTRY_VERIFY(child->isTraining() && child->step() > child->fork()->step + 20);
    const QString folder = child->folder();
    session->reset();
    QTRY_VERIFY(child->folder() != folder && child->state() == Run::State::paused);
    QCOMPARE(child->step(), child->fork()->step);
    QCOMPARE(child->rows().size(), std::size_t{1});
  }

  void aForkThatIsOpenedLaterKnowsItsParent() {
    const auto settings = openSettings();
    QString title;
    {
      const auto session = training(20);
      session->draft().edit("model.conv", none);
      QTRY_VERIFY(session->runs().current()->isTraining());
      title = session->runs().current()->title();
      session->save(*settings);
      session->shutDown(patience);
    }
    Session session;
    session.restore(*settings);
    Run* const child = session.runs().current();
    QTRY_VERIFY(child->fork());
    QCOMPARE(child->title(), title);
    QCOMPARE(QString::fromStdString(child->fork()->parent), nameOf(session.runs().at(0)->folder()));
    QTRY_COMPARE(child->rows().front().step, child->fork()->step);
    session.shutDown(patience);
  }

 private:
  std::unique_ptr<Session> training(std::int64_t beyond, const QString& options = {},
                                    std::int64_t checkpoint_every = 100) const {
    auto session = sessionOn(machine_->machine(options));
    session->draft().edit("training.steps", std::int64_t{100000});
    session->draft().edit("training.checkpoint_every", checkpoint_every);
    session->play();
    const Run* const run = session->runs().current();
    [&] { QTRY_VERIFY(run->step() > beyond); }();
    return session;
  }

  std::unique_ptr<FakeMachine> machine_;
};

QTEST_MAIN(SessionForkTest)
#include "session_fork_test.moc"
