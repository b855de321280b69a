// Session, Run and WorkerClient against the fake worker: no widgets.
#include <QElapsedTimer>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <set>

#include "fake_machine.h"
#include "probe_panel.h"
#include "session_fixture.h"
#include "ui/session/application_settings.h"
#include "ui/session/worker_client.h"

using namespace mambarium;

namespace {

constexpr int patience = 60'000;

}  // namespace

class SessionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { machine_ = std::make_unique<FakeMachine>(); }

  void playTrainsToTheEnd() {
    auto session = sessionOn(machine_->machine(QStringLiteral("--speed 4000")));
    session->draft().edit("training.steps", std::int64_t{300});
    session->play();
    Run* const run = session->runs().current();
    QVERIFY(run);
    QVERIFY(run->wantsToTrain());
    QTRY_COMPARE(run->state(), Run::State::finished);
    QCOMPARE(run->step(), 300);
    QCOMPARE(run->rows().size(), std::size_t{7});
    QCOMPARE(run->rows().back().step, 300);
    QCOMPARE(run->checkpoints(), (std::vector<std::int64_t>{100, 200, 300}));
    QVERIFY(!run->trainLosses().empty());
    QVERIFY(!run->folder().isEmpty());
    QVERIFY(session->playObstacle().contains(QStringLiteral("finished")));
  }

  void pauseIsQuickAndPlayGoesOn() {
    auto session = sessionOn(machine_->machine());
    session->play();
    Run* const run = session->runs().current();
    QTRY_VERIFY(run->step() > 20);
    session->pause();
    QVERIFY(!run->wantsToTrain());
    QTRY_COMPARE(run->state(), Run::State::paused);
    const std::int64_t stopped_at = run->step();
    QTest::qWait(120);
    QCOMPARE(run->step(), stopped_at);
    session->play();
    QCOMPARE(session->runs().count(), 1);
    QTRY_VERIFY(run->step() > stopped_at);
  }

  void stepTakesExactlyOne() {
    auto session = sessionOn(machine_->machine());
    session->step();
    Run* const run = session->runs().current();
    QTRY_COMPARE(run->step(), 1);
    QCOMPARE(run->state(), Run::State::paused);
    session->step();
    session->step();
    QTRY_COMPARE(run->step(), 3);
  }

  void tempoSlowsTraining() {
    auto session = sessionOn(machine_->machine());
    session->setTempo(20);
    session->play();
    Run* const run = session->runs().current();
    QTRY_VERIFY(run->step() >= 10);
    // Reports are 33 ms apart at least: at full speed a report stands for many steps, at 20 a second each has its own.
    for (std::size_t index = 0; index < run->trainLosses().size(); ++index)
      QCOMPARE(run->trainLosses()[index].first, static_cast<std::int64_t>(index) + 1);
    session->setTempo(0);
    QTRY_VERIFY(run->step() > 200);
  }

  void resetStartsOverAndDropsOldReports() {
    auto session = sessionOn(machine_->machine(QStringLiteral("--stale")));
    QSignalSpy problems(session.get(), &Session::runProblem);
    session->play();
    Run* const run = session->runs().current();
    QTRY_VERIFY(run->step() > 60);
    const QString first_folder = run->folder();
    session->reset();
    session->reset();  // faster than the worker answers
    QTRY_VERIFY(run->folder() != first_folder && run->state() == Run::State::paused);
    QTest::qWait(100);
    QCOMPARE(run->state(), Run::State::paused);
    QCOMPARE(run->step(), 0);
    QCOMPARE(run->rows().size(), std::size_t{1});
    QVERIFY(run->trainLosses().empty());
    QVERIFY(run->checkpoints().empty());
    QCOMPARE(run->generation(), 3);
    QCOMPARE(problems.count(), 0);
    QCOMPARE(session->runs().count(), 1);
  }

  void anEditMakesANewRunInANewColour() {
    auto session = sessionOn(machine_->machine());
    session->play();
    Run* const first = session->runs().current();
    QTRY_VERIFY(first->step() > 10);
    session->draft().edit("task.order", std::int64_t{2});
    QVERIFY(!session->draftIsCurrentRun());
    session->play();
    Run* const second = session->runs().current();
    QVERIFY(second != first);
    QTRY_VERIFY(second->step() > 10);
    QTRY_VERIFY(!first->isTraining());
    QVERIFY(first->paletteIndex() != second->paletteIndex());
    QCOMPARE(second->config().integer("task.order"), 2);
    QTRY_VERIFY2(!first->hasWorker(), "a paused run that is not looked at keeps a process");

    // Back to the first: its settings come back into the draft, and play goes on with it.
    session->runs().setCurrent(first);
    QCOMPARE(session->draft().config().integer("task.order"), 1);
    const std::int64_t before = first->step();
    session->play();
    QCOMPARE(session->runs().count(), 2);
    QTRY_VERIFY(first->step() > before);
    session->draft().history().undo();
    QCOMPARE(session->draft().config().integer("task.order"), 2);
  }

  void problemsOfTheDraftForbidPlay() {
    auto session = sessionOn(machine_->machine());
    session->draft().edit("model.headdim", std::int64_t{5});
    QVERIFY(session->playObstacle().contains(QStringLiteral("divide")));
    session->play();
    QCOMPARE(session->runs().count(), 0);
    session->draft().editText("task.order", QStringLiteral("ninety"));
    QVERIFY(session->playObstacle().contains(QStringLiteral("ninety")));
    session->draft().history().undo();
    QVERIFY(session->playObstacle().isEmpty());
  }

  void aDeadWorkerLosesNothingAndCanGoOn() {
    auto session = sessionOn(machine_->machine(QStringLiteral("--crash-at 230 --words last-words-of-the-worker")));
    QSignalSpy died(session.get(), &Session::workerDied);
    session->play();
    Run* const run = session->runs().current();
    QTRY_COMPARE(died.count(), 1);
    QCOMPARE(run->state(), Run::State::died);
    QVERIFY(died[0][3].toString().contains(QStringLiteral("last-words-of-the-worker")));
    QCOMPARE(run->rows().back().step, 200);
    QTest::qWait(100);
    QCOMPARE(machine_->count(QStringLiteral("hello")), 1);  // nobody but a person starts another

    session->continueRun(run);
    QTRY_VERIFY(run->step() > 300);
    std::vector<std::int64_t> steps;
    for (const MetricsRow& row : run->rows()) steps.push_back(row.step);
    for (std::size_t index = 0; index < steps.size(); ++index)
      QCOMPARE(steps[index], static_cast<std::int64_t>(index) * 50);
    QCOMPARE(session->runs().count(), 1);
  }

  void sigkillFromOutsideIsNoticed() {
    auto session = sessionOn(machine_->machine());
    QSignalSpy died(session.get(), &Session::workerDied);
    session->play();
    Run* const run = session->runs().current();
    QTRY_VERIFY(run->step() > 10);
    QVERIFY(signalWorker(*run, SIGKILL));
    QTRY_COMPARE(died.count(), 1);
    QCOMPARE(run->state(), Run::State::died);
  }

  void unreadableBytesAreExplained_data() {
    QTest::addColumn<QString>("options");
    QTest::addColumn<QString>("expected");
    QTest::newRow("garbage") << QStringLiteral("--garbage-on start") << QStringLiteral("could not be read");
    QTest::newRow("nonsense") << QStringLiteral("--nonsense-on start") << QStringLiteral("makes no sense");
    QTest::newRow("login text") << QStringLiteral("--greeting Welcome-to-gpu-box!")
                                << QStringLiteral("Welcome-to-gpu-box!");
    QTest::newRow("version") << QStringLiteral("--protocol 99") << QStringLiteral("protocol version 99");
    QTest::newRow("leaves") << QStringLiteral("--leave 3") << QStringLiteral("exit code 3");
  }
  void unreadableBytesAreExplained() {
    QFETCH(QString, options);
    QFETCH(QString, expected);
    auto session = sessionOn(machine_->machine(options));
    QSignalSpy died(session.get(), &Session::workerDied);
    session->play();
    QTRY_COMPARE(died.count(), 1);
    QVERIFY2(died[0][1].toString().contains(expected), qPrintable(died[0][1].toString()));
    QVERIFY(!session->runs().current()->hasWorker());
  }

  void aMissingWorkerSaysWhereItWasLookedFor_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("expected");
    QTest::newRow("own") << QString() << QStringLiteral("mambarium-worker");
    QTest::newRow("path") << QStringLiteral("/nowhere/worker") << QStringLiteral("/nowhere/worker");
    QTest::newRow("PATH") << QStringLiteral("no-such-program-here serve") << QStringLiteral("PATH");
  }
  void aMissingWorkerSaysWhereItWasLookedFor() {
    QFETCH(QString, command);
    QFETCH(QString, expected);
    const QByteArray path = qgetenv("PATH");
    qputenv("PATH", "/nowhere");
    auto session = sessionOn({QStringLiteral("Elsewhere"), command, machine_->path(QStringLiteral("runs"))});
    QSignalSpy died(session.get(), &Session::workerDied);
    session->play();
    QTRY_COMPARE(died.count(), 1);
    qputenv("PATH", path);
    QVERIFY2(died[0][1].toString().contains(expected), qPrintable(died[0][1].toString()));
    QVERIFY(!died[0][2].toString().isEmpty());
  }

  void aFatalErrorShowsMessageAndHint() {
    auto session = sessionOn(machine_->machine(QStringLiteral("--fail-at 60")));
    QSignalSpy problems(session.get(), &Session::runProblem);
    session->play();
    QTRY_COMPARE(problems.count(), 1);
    QVERIFY(problems[0][1].toString().contains(QStringLiteral("not finite at step 60")));
    QCOMPARE(problems[0][2].toString(), QStringLiteral("Lower the learning rate."));
    QTRY_COMPARE(session->runs().current()->state(), Run::State::failed);
    QVERIFY(session->runs().current()->hasWorker());
  }

  void aFolderThatCannotBeMadeIsAClearProblem() {
    auto session = sessionOn(machine_->machine());
    session->draft().edit("run.out", std::string("/proc/no-runs-here"));
    QSignalSpy problems(session.get(), &Session::runProblem);
    session->play();
    QTRY_COMPARE(problems.count(), 1);
    QVERIFY(problems[0][1].toString().contains(QStringLiteral("/proc/no-runs-here")));
    QCOMPARE(session->runs().current()->state(), Run::State::failed);
  }

  void aSlowWorkerIsUnderstood() {
    auto session = sessionOn(machine_->machine(QStringLiteral("--slow 1")));
    session->draft().edit("training.steps", std::int64_t{100});
    session->play();
    QTRY_COMPARE_WITH_TIMEOUT(session->runs().current()->state(), Run::State::finished, patience);
    QCOMPARE(session->runs().current()->rows().size(), std::size_t{3});
  }

  void panelsPullAndHiddenOnesCostNothing() {
    auto session = sessionOn(machine_->machine());
    ProbePanel decay(QStringLiteral("decay")), filters(QStringLiteral("filters")), loss(QStringLiteral("loss"));
    for (ProbePanel* const panel : {&decay, &filters, &loss}) session->feed().addPanel(panel);
    decay.resize(200, 200);
    static_cast<QWidget&>(decay).show();
    static_cast<QWidget&>(loss).show();
    QVERIFY(QTest::qWaitForWindowExposed(&decay));
    session->play();
    QTRY_VERIFY(decay.inspectedStep() > 40);
    QTRY_VERIFY(loss.data().runs.size() == 1 && loss.data().runs[0].rows.size() > 2);
    QVERIFY(!loss.data().runs[0].train_losses.empty());
    QCOMPARE(machine_->count(QStringLiteral("inspect filters")), 0);
    QCOMPARE(filters.shown, 0);

    session->pause();
    QTRY_COMPARE(session->runs().current()->state(), Run::State::paused);
    QTRY_COMPARE(decay.inspectedStep(), session->runs().current()->step());
    Run& run = *session->runs().current();
    const int asked = settledCount(*machine_, run, QStringLiteral("inspect")), shown = decay.shown;
    QTest::qWait(150);
    QCOMPARE(settledCount(*machine_, run, QStringLiteral("inspect")), asked);  // nothing changed, nothing is asked
    QCOMPARE(decay.shown, shown);
  }

  void oneQuestionAtATimeHoweverSlowTheAnswer() {
    auto session = sessionOn(machine_->machine(QStringLiteral("--hang-on inspect")));
    ProbePanel decay(QStringLiteral("decay"));
    session->feed().addPanel(&decay);
    static_cast<QWidget&>(decay).show();
    QVERIFY(QTest::qWaitForWindowExposed(&decay));
    session->play();
    QTRY_COMPARE(machine_->count(QStringLiteral("inspect")), 1);
    QTest::qWait(200);
    QCOMPARE(machine_->count(QStringLiteral("inspect")), 1);
    QElapsedTimer clock;
    clock.start();
    session->shutDown(300);
    QVERIFY2(clock.elapsed() < 60'000, "a worker that hangs for an hour must not keep the window");
  }

  void replayShowsACheckpointInEveryPanel() {
    auto session = sessionOn(machine_->machine(QStringLiteral("--speed 4000")));
    session->draft().edit("training.steps", std::int64_t{300});
    ProbePanel decay(QStringLiteral("decay")), filters(QStringLiteral("filters"));
    for (ProbePanel* const panel : {&decay, &filters}) {
      session->feed().addPanel(panel);
      static_cast<QWidget*>(panel)->show();
      QVERIFY(QTest::qWaitForWindowExposed(panel));
    }
    session->play();
    Run* const run = session->runs().current();
    QTRY_COMPARE(run->state(), Run::State::finished);
    session->feed().setCheckpoint(100);
    QTRY_COMPARE(decay.inspectedStep(), 100);
    QTRY_COMPARE(filters.inspectedStep(), 100);
    session->feed().setCheckpoint(std::nullopt);
    QTRY_COMPARE(decay.inspectedStep(), 300);

    QSignalSpy refused(&session->feed(), &PanelFeed::inspectionProblem);
    session->feed().setCheckpoint(123);
    QTRY_COMPARE(refused.count(), 2);
    QTest::qWait(100);
    QCOMPARE(refused.count(), 2);  // asked once, not every frame
  }

  void savedRunsComeBackWithTheirCurves() {
    const Machine machine = machine_->machine(QStringLiteral("--speed 4000"));
    auto settings = openSettings();
    {
      auto session = sessionOn(machine);
      session->draft().edit("training.steps", std::int64_t{300});
      session->play();
      QTRY_COMPARE(session->runs().current()->state(), Run::State::finished);
      session->runs().current()->setNote(QStringLiteral("the one with the convolution"));
      session->draft().edit("training.seed", std::int64_t{3});
      session->draft().edit("training.steps", std::int64_t{100000});
      session->play();
      QTRY_VERIFY(session->runs().current()->step() > 20);
      session->pause();
      QTRY_COMPARE(session->runs().current()->state(), Run::State::paused);
      session->runs().at(0)->setShown(false);
      session->save(*settings);
      session->shutDown(patience);
    }
    Session session;
    session.restore(*settings);
    QCOMPARE(session.runs().count(), 2);
    QCOMPARE(session.machines().selected(), machine);
    Run* const first = session.runs().at(0);
    QCOMPARE(first->note(), QStringLiteral("the one with the convolution"));
    QVERIFY(!first->isShown());
    QCOMPARE(session.runs().current(), session.runs().at(1));
    QCOMPARE(session.draft().config().integer("training.seed"), 3);
    QTRY_COMPARE(first->rows().size(), std::size_t{7});
    QTRY_COMPARE(first->state(), Run::State::finished);
    QCOMPARE(session.runs().at(1)->paletteIndex(), 1);
    const std::int64_t before = session.runs().at(1)->step();
    session.play();
    QCOMPARE(session.runs().count(), 2);
    QTRY_VERIFY(session.runs().at(1)->step() > before);
  }

  void twoWindowsShareOneListOfRuns() {
    const Machine machine = machine_->machine(QStringLiteral("--speed 4000"));
    const auto settings = openSettings();
    const auto train = [](Session& session, std::int64_t seed) {
      session.draft().edit("training.steps", std::int64_t{100});
      session.draft().edit("training.seed", seed);
      session.play();
      QTRY_COMPARE(session.runs().current()->state(), Run::State::finished);
    };
    auto first = sessionOn(machine);
    train(*first, 1);
    first->save(*settings);
    Session second;
    second.restore(*settings);
    train(second, 2);
    train(second, 3);
    train(*first, 4);

    // A name is in the file at once, and whoever saves later without having touched it leaves it alone.
    second.runs().at(0)->setName(QStringLiteral("theirs"));
    first->runs().at(0)->setNote(QStringLiteral("an old thought"));
    QTRY_COMPARE(openSettings()->value(QStringLiteral("runs/1/note")).toString(), QStringLiteral("an old thought"));
    second.runs().at(0)->setNote(QStringLiteral("a newer thought"));
    QTRY_COMPARE(openSettings()->value(QStringLiteral("runs/1/note")).toString(), QStringLiteral("a newer thought"));
    QCOMPARE(openSettings()->value(QStringLiteral("runs/1/name")).toString(), QStringLiteral("theirs"));

    second.removeRun(second.runs().at(1));
    second.save(*openSettings());
    first->save(*openSettings());
    Session third;
    third.restore(*openSettings());
    std::set<std::int64_t> seeds;
    for (int index = 0; index < third.runs().count(); ++index)
      seeds.insert(third.runs().at(index)->config().integer("training.seed"));
    QCOMPARE(seeds, (std::set<std::int64_t>{1, 3, 4}));
    QCOMPARE(third.runs().at(0)->note(), QStringLiteral("a newer thought"));
    QCOMPARE(third.runs().at(0)->name(), QStringLiteral("theirs"));
    QCOMPARE(third.runs().current()->config().integer("training.seed"), 4);
  }

  void aRunThatIsInUseElsewhereIsNotAFailure() {
    QFile taken(machine_->path(QStringLiteral("taken")));
    const Machine machine = machine_->machine(QStringLiteral("--in-use ") + taken.fileName());
    auto session = sessionOn(machine);
    session->draft().edit("training.steps", std::int64_t{100000});
    session->play();
    QTRY_VERIFY(session->runs().current()->step() > 20);
    session->pause();
    QTRY_COMPARE(session->runs().current()->state(), Run::State::paused);
    session->save(*openSettings());
    session->shutDown(patience);
    session.reset();
    QVERIFY(taken.open(QIODevice::WriteOnly));

    Session other;
    other.restore(*openSettings());
    Run* const run = other.runs().current();
    QSignalSpy problems(&other, &Session::runProblem);
    other.play();
    QTRY_COMPARE(problems.count(), 1);
    QCOMPARE(run->state(), Run::State::saved);
    QVERIFY(run->isInUseElsewhere() && !run->wantsToTrain());
    QVERIFY(other.playObstacle().isEmpty());
    taken.remove();
    const std::int64_t stood = run->step();
    other.play();
    QTRY_VERIFY(run->step() > stood);
    QVERIFY(!run->isInUseElsewhere());
  }

  void foldersOpenThroughTheProtocol() {
    const Machine machine = machine_->machine(QStringLiteral("--speed 4000"));
    QString folder;
    {
      auto session = sessionOn(machine);
      session->draft().edit("training.steps", std::int64_t{100});
      session->play();
      QTRY_COMPARE(session->runs().current()->state(), Run::State::finished);
      folder = session->runs().current()->folder();
      session->shutDown(patience);
    }
    auto session = sessionOn(machine);
    std::vector<RunSummary> listed;
    session->library().list(
        machine, machine.runs_folder, [&](const std::vector<RunSummary>& runs) { listed = runs; },
        [](const LibraryError&) {});
    QTRY_COMPARE(listed.size(), std::size_t{1});
    QCOMPARE(QString::fromStdString(listed[0].folder), folder);
    session->openFolder(machine, folder);
    QTRY_COMPARE(session->runs().count(), 1);
    session->openFolder(machine, folder);
    QCOMPARE(session->runs().count(), 1);
    QCOMPARE(session->runs().current()->rows().size(), std::size_t{3});

    QSignalSpy problems(session.get(), &Session::folderProblem);
    session->openFolder(machine, machine_->path(QStringLiteral("nothing-here")));
    QTRY_COMPARE(problems.count(), 1);
    QVERIFY(problems[0][0].toString().contains(QStringLiteral("nothing-here")));
  }

  void quittingInTheMiddleOfAStep() {
    auto session = sessionOn(machine_->machine(QStringLiteral("--long-step 100")));
    session->play();
    QTRY_VERIFY(session->runs().current()->step() >= 1);
    session->shutDown(patience);
    QVERIFY(machine_->requests().contains(QStringLiteral("close")));
  }

  void aRemovedRunIsCheckpointedNotKilled() {
    auto session = sessionOn(machine_->machine());
    session->play();
    QTRY_VERIFY(session->runs().current()->step() > 10);
    const QString folder = session->runs().current()->folder();
    session->removeRun(session->runs().current());
    QCOMPARE(session->runs().count(), 0);
    QTRY_VERIFY(QDir(folder + QStringLiteral("/checkpoints")).entryList(QDir::Files).size() >= 2);
  }

 private:
  std::unique_ptr<FakeMachine> machine_;
};

QTEST_MAIN(SessionTest)
#include "session_test.moc"
