// A run driven from the window, with real clicks and keys: play, pause, step, tempo, timeline, quit; and what its
// panels ask for meanwhile.
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QSlider>
#include <QToolButton>
#include <cmath>

#include "ui/form/experiment_form.h"
#include "ui/run_text.h"
#include "ui/timeline.h"
#include "window_fixture.h"

using namespace mambarium;

class WindowTransportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void spacePlaysAndPausesButNotInAField() {
    WindowFixture it;
    QTest::keyClick(it.window.get(), Qt::Key_Space);
    QTRY_VERIFY(it.run() && it.run()->step() > 5);
    QTest::keyClick(it.window.get(), Qt::Key_Space);
    QTRY_COMPARE(it.run()->state(), Run::State::paused);
    const std::int64_t stood = it.run()->step();
    auto* const note = it.child<QLineEdit>("run-note");
    note->setFocus();
    QTest::keyClicks(note, QStringLiteral("a note with spaces"));
    QCOMPARE(it.run()->note(), QStringLiteral("a note with spaces"));
    QWidget* const steps = it.window->form().field("training.steps");
    steps->setFocus();
    QTest::keyClick(steps, Qt::Key_End);
    QTest::keyClick(steps, Qt::Key_Space);
    QTest::keyClick(steps, Qt::Key_Right);
    QTest::qWait(80);
    QCOMPARE(it.run()->step(), stood);
    QCOMPARE(it.run()->state(), Run::State::paused);
    QTest::keyClick(steps, Qt::Key_Escape);
    QTest::keyClick(it.window.get(), Qt::Key_Right);
    QTRY_COMPARE(it.run()->step(), stood + 1);
  }

  void transportStepTempoReset() {
    WindowFixture it;
    it.click(it.child<QToolButton>("step"));
    QTRY_VERIFY(it.run() && it.run()->step() == 1);
    auto* const tempo = it.child<QSlider>("tempo");
    QCOMPARE(tempo->value(), full_tempo);
    const int told = it.machine.count(QStringLiteral("tempo"));
    tempo->setValue(0);
    QCOMPARE(it.session->tempo(), 1.0);
    QTRY_COMPARE(it.machine.count(QStringLiteral("tempo")), told + 1);
    tempo->setValue(full_tempo);
    QCOMPARE(it.session->tempo(), 0.0);
    it.click(it.play());
    QTRY_VERIFY(it.run()->step() > 30);
    it.click(it.child<QToolButton>("reset"));
    QTRY_VERIFY(it.run()->step() == 0 && it.run()->state() == Run::State::paused);
    QTRY_COMPARE(it.play()->text(), QStringLiteral("Play"));
  }

  void tempoScaleIsLogarithmicAndReversible() {
    QCOMPARE(tempoOf(0), 1.0);
    QCOMPARE(tempoOf(full_tempo), 0.0);
    QCOMPARE(tempoOf(full_tempo - 1), 1000.0);
    double last = 0;
    for (int value = 0; value < full_tempo; ++value) {
      QVERIFY(tempoOf(value) >= last);
      last = tempoOf(value);
      QVERIFY(std::abs(tempoOf(sliderValueOf(tempoOf(value))) - tempoOf(value)) <= 0.2 * tempoOf(value));
    }
  }

  void pauseStopsAtOnce() {
    WindowFixture it;
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->step() > 20);
    it.click(it.play());
    QTRY_COMPARE(it.run()->state(), Run::State::paused);
    const std::int64_t stood = it.run()->step();
    QTest::qWait(100);
    QCOMPARE(it.run()->step(), stood);
    QVERIFY(runSentence(*it.session).startsWith(QStringLiteral("Paused at step")));
  }

  void anInvalidFormDoesNotKeepARunFromPausing() {
    WindowFixture it;
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->step() > 10);
    it.set("model.headdim", std::int64_t{5});
    QCOMPARE(it.play()->text(), QStringLiteral("Pause"));
    it.click(it.play());
    QTRY_COMPARE(it.run()->state(), Run::State::paused);
    QVERIFY(!it.play()->isEnabled());
  }

  void timelineReplaysCheckpoints() {
    WindowFixture it(QStringLiteral("--speed 2000"));
    it.set("training.steps", std::int64_t{500});
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->state() == Run::State::finished);
    Timeline* const timeline = it.window->transport().timeline();
    QTest::mouseClick(timeline, Qt::LeftButton, {}, QPoint(timeline->width() * 2 / 5, timeline->height() / 2));
    QCOMPARE(it.session->feed().checkpoint(), std::optional<std::int64_t>(200));
    QTRY_VERIFY(it.machine.count(QStringLiteral("inspect decay 200")) == 1);
    QVERIFY(runSentence(*it.session).contains(QStringLiteral("step 200")));
    timeline->setFocus();
    QTest::keyClick(timeline, Qt::Key_Right);
    QCOMPARE(it.session->feed().checkpoint(), std::optional<std::int64_t>(300));
    QTest::keyClick(timeline, Qt::Key_Left);
    QTest::keyClick(timeline, Qt::Key_Left);
    QCOMPARE(it.session->feed().checkpoint(), std::optional<std::int64_t>(100));
    QTest::keyClick(timeline, Qt::Key_End);
    QVERIFY(!it.session->feed().checkpoint());
    QCOMPARE(it.run()->step(), 500);
  }

  void hiddenPanelsAskForNothing() {
    WindowFixture it;
    it.set("training.steps", std::int64_t{100'000});
    for (const char* const id : {"decay", "prediction"}) {
      it.window->action(QStringLiteral("show-") + QLatin1String(id))->setChecked(false);
    }
    it.click(it.play());
    QTRY_VERIFY(it.machine.count(QStringLiteral("inspect filters")) > 2);
    QCOMPARE(it.machine.count(QStringLiteral("inspect decay")), 0);
    QCOMPARE(it.machine.count(QStringLiteral("inspect prediction")), 0);
    it.window->action(QStringLiteral("show-decay"))->setChecked(true);
    QTRY_VERIFY(it.machine.count(QStringLiteral("inspect decay")) > 0);
    it.window->action(QStringLiteral("maximise-loss"))->trigger();
    const int asked = settledCount(it.machine, *it.run(), QStringLiteral("inspect"));
    QTest::qWait(120);
    QCOMPARE(settledCount(it.machine, *it.run(), QStringLiteral("inspect")), asked);
    QTest::keyClick(it.window.get(), Qt::Key_Escape);
    QTRY_VERIFY(it.machine.count(QStringLiteral("inspect")) > asked);
  }

  void whatAModelHasNotIsNotAskedFor() {
    WindowFixture it;
    it.set("model.kind", std::string("transformer"));
    it.click(it.play());
    QTRY_VERIFY(it.machine.count(QStringLiteral("inspect prediction")) > 2);
    QCOMPARE(it.machine.count(QStringLiteral("inspect decay")), 0);
    const Panel* const decay = it.window->panels().panel(QStringLiteral("decay"));
    QTRY_VERIFY(decay->caption().startsWith(QStringLiteral("A transformer has no decay factors")));
    QVERIFY(it.notices().empty());
  }

  void modelPanelsGetData() {
    WindowFixture it;
    it.click(it.play());
    for (const char* const id : {"decay", "prediction", "filters"}) {
      const Panel* const panel = it.window->panels().panel(QLatin1String(id));
      QTRY_VERIFY2(panel->data().inspected && !panel->table().rows.empty(), id);
      QVERIFY(!panel->caption().isEmpty());
    }
  }

  void hoursThatAreLeftFitTheirLabel() {
    WindowFixture it;
    it.set("training.steps", std::int64_t{2'000'000});
    it.click(it.play());
    const QLabel* left = nullptr;
    for (const QLabel* const label : it.window->transport().findChildren<QLabel*>()) {
      if (label->accessibleName() == QStringLiteral("Time left")) left = label;
    }
    QVERIFY(left);
    QTRY_VERIFY2(left->text().count(QLatin1Char(':')) == 2, qPrintable(left->text()));
    QVERIFY(left->fontMetrics().horizontalAdvance(left->text()) <= left->width());
  }

  void checkpointsAreForWorkersThatAreThere() {
    WindowFixture it;
    const QAction* const write = it.window->action(QStringLiteral("checkpoint"));
    QVERIFY(!write->isEnabled());
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->step() > 5);
    QVERIFY(write->isEnabled());
    QVERIFY(signalWorker(*it.run(), SIGKILL));
    QTRY_COMPARE(it.run()->state(), Run::State::died);
    QVERIFY(!write->isEnabled());
  }

  void quitInTheMiddleOfAStep() {
    WindowFixture it(QStringLiteral("--long-step 150"));
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->step() >= 1);
    const QString folder = it.run()->folder();
    it.close();
    QVERIFY(it.machine.requests().contains(QStringLiteral("close")));
    QVERIFY(!QDir(folder + QStringLiteral("/checkpoints")).isEmpty());
  }

  void quitWhileTheWorkerHangs() {
    WindowFixture it(QStringLiteral("--hang-on start"));
    it.click(it.play());
    QTRY_VERIFY(it.machine.requests().contains(QStringLiteral("start")));
    QVERIFY(it.play()->isEnabled());
    it.close();
    QVERIFY(!it.window);
  }

  void wordsAndNumbers() {
    QCOMPARE(rateText(2'140'000), QStringLiteral("2.1 M tokens/s"));
    QCOMPARE(rateText(431'000), QStringLiteral("431 k tokens/s"));
    QCOMPARE(rateText(0), QString());
    QCOMPARE(durationText(11.2), QStringLiteral("0:12"));
    QCOMPARE(durationText(3723), QStringLiteral("1:02:03"));
    QCOMPARE(durationText(-1), QString());
    QCOMPARE(tempoText(0), QStringLiteral("full speed"));
    QCOMPARE(tempoText(1), QStringLiteral("1 step/s"));
    QCOMPARE(tempoText(20), QStringLiteral("20 steps/s"));
  }
};

QTEST_MAIN(WindowTransportTest)
#include "window_transport_test.moc"
