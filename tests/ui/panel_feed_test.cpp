// What panels are fed, and what they are not: answers at earlier steps, for panels that want them, and none to a
// question that is not theirs.

#include <QTest>

#include "fake_machine.h"
#include "probe_panel.h"
#include "session_fixture.h"

using namespace mambarium;

class PanelFeedTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { machine_ = std::make_unique<FakeMachine>(); }

  void checkpointsAreLookedBackAt() {
    auto session = sessionOn(machine_->machine(QStringLiteral("--speed 4000")));
    session->draft().edit("training.steps", std::int64_t{300});
    session->draft().edit("training.checkpoint_every", std::int64_t{100});
    session->play();
    Run* const run = session->runs().current();
    QTRY_COMPARE(run->state(), Run::State::finished);
    QVERIFY(run->checkpoints().size() >= 3);

    ProbePanel filters(QStringLiteral("filters")), decay(QStringLiteral("decay"));
    filters.wants_earlier = true;
    for (ProbePanel* const panel : {&filters, &decay}) {
      session->feed().addPanel(panel);
      static_cast<QWidget*>(panel)->show();
      QVERIFY(QTest::qWaitForWindowExposed(panel));
    }
    QTRY_COMPARE(stepsOf(filters), std::vector<std::int64_t>(run->checkpoints()));
    QTRY_COMPARE(filters.inspectedStep(), 300);
    QTRY_COMPARE(decay.inspectedStep(), 300);
    QVERIFY(decay.data().earlier.empty());
    const int asked = settledCount(*machine_, *run, QStringLiteral("inspect"));
    QTest::qWait(150);
    QCOMPARE(settledCount(*machine_, *run, QStringLiteral("inspect")), asked);

    session->feed().setCheckpoint(100);
    QTRY_COMPARE(filters.inspectedStep(), 100);
    QCOMPARE(stepsOf(filters), std::vector<std::int64_t>(run->checkpoints()));
  }

  void whatWasLiveIsKept() {
    auto session = sessionOn(machine_->machine());
    session->draft().edit("training.steps", std::int64_t{100000});
    ProbePanel filters(QStringLiteral("filters"));
    filters.wants_earlier = true;
    session->feed().addPanel(&filters);
    static_cast<QWidget&>(filters).show();
    QVERIFY(QTest::qWaitForWindowExposed(&filters));
    session->play();
    QTRY_VERIFY(filters.data().earlier.size() > 10);
    const std::vector<std::int64_t> steps = stepsOf(filters);
    QVERIFY(std::ranges::is_sorted(steps));
    QVERIFY(std::ranges::adjacent_find(steps) == steps.end());
    QTRY_VERIFY2(session->runs().current()->step() > 0 && filters.inspectedStep() > 0, "the newest is still shown");

    session->draft().edit("training.seed", std::int64_t{9});
    session->play();
    QTRY_VERIFY(session->runs().count() == 2 && filters.data().inspected);
    QTRY_VERIFY(std::ranges::all_of(filters.data().earlier, [&](const nlohmann::json& answer) {
      return answer["step"].get<std::int64_t>() <= session->runs().current()->step();
    }));
  }

  void aForkThatIsResetForgetsWhatLiesAhead() {
    auto session = sessionOn(machine_->machine());
    session->draft().edit("training.steps", std::int64_t{100000});
    ProbePanel filters(QStringLiteral("filters"));
    filters.wants_earlier = true;
    QVERIFY(feeds(*session, filters));
    session->play();
    QTRY_VERIFY(session->runs().current()->step() > 20);
    session->draft().edit("model.gate", false);
    const Run* const child = session->runs().current();
    const auto is_far_ahead = [child](std::int64_t step) { return step > child->fork()->step + 20; };
    QTRY_VERIFY(child->isTraining() && std::ranges::any_of(stepsOf(filters), is_far_ahead));
    const QString folder = child->folder();
    session->reset();
    QTRY_VERIFY(child->folder() != folder && child->state() == Run::State::paused);
    QVERIFY(child->step() > 0);
    QTRY_VERIFY(std::ranges::all_of(stepsOf(filters), [child](std::int64_t step) { return step <= child->step(); }));
  }

  void whenNobodyAnswersAnotherChoiceShowsNothing() {
    auto session = sessionOn(machine_->machine());
    session->draft().edit("training.steps", std::int64_t{100000});
    ProbePanel decay(QStringLiteral("decay"));
    QVERIFY(feeds(*session, decay));
    session->play();
    Run* const run = session->runs().current();
    QTRY_VERIFY(!run->checkpoints().empty());
    session->pause();
    QTRY_COMPARE(run->state(), Run::State::paused);
    QTRY_COMPARE(decay.inspectedStep(), run->step());
    session->feed().setCheckpoint(7);  // which is none: the question is refused
    QTRY_VERIFY(!decay.data().inspected);
    session->feed().setCheckpoint(std::nullopt);
    QTRY_COMPARE(decay.inspectedStep(), run->step());

    QVERIFY(signalWorker(*run, SIGKILL));
    QTRY_COMPARE(run->state(), Run::State::died);
    QTest::qWait(100);
    QCOMPARE(decay.inspectedStep(), run->step());
    session->feed().setCheckpoint(run->checkpoints().front());
    QTRY_VERIFY(!decay.data().inspected);
  }

  void aHiddenCurrentRunIsNoneOfTheCurves() {
    auto session = sessionOn(machine_->machine(QStringLiteral("--speed 4000")));
    session->draft().edit("training.steps", std::int64_t{100});
    ProbePanel loss(QStringLiteral("loss")), decay(QStringLiteral("decay"));
    QVERIFY(feeds(*session, loss) && feeds(*session, decay));
    for (const std::int64_t seed : {std::int64_t{1}, std::int64_t{2}}) {
      session->draft().edit("training.seed", seed);
      session->play();
      QTRY_COMPARE(session->runs().current()->state(), Run::State::finished);
    }
    QTRY_COMPARE(loss.data().runs.size(), std::size_t{2});
    QCOMPARE(loss.data().current, std::size_t{1});
    session->runs().current()->setShown(false);
    QTRY_COMPARE(loss.data().runs.size(), std::size_t{1});
    QCOMPARE(loss.data().current, loss.data().runs.size());
    QTRY_COMPARE(decay.data().runs.size(), std::size_t{2});
    QCOMPARE(decay.data().current, std::size_t{1});
  }

  void aPanelMaySeeThatItHasNothingToAsk() {
    auto session = sessionOn(machine_->machine());
    session->draft().edit("training.steps", std::int64_t{100000});
    session->draft().edit("model.d_conv", std::int64_t{8});
    const std::unique_ptr<Panel> products(makePanel(QStringLiteral("inner-products"), nullptr));
    QVERIFY(feeds(*session, *products));
    session->play();
    Run* const run = session->runs().current();
    const auto declines = [&] { return products->caption().startsWith(QStringLiteral("There are too many windows")); };
    QTRY_VERIFY2(declines(), qPrintable(products->caption()));
    run->setShown(false);
    QTRY_VERIFY(run->rows().size() > 3);
    QTest::qWait(100);
    QVERIFY2(declines(), qPrintable(products->caption()));
    QCOMPARE(machine_->count(QStringLiteral("inspect")), 0);
  }

 private:
  static bool feeds(Session& session, Panel& panel) {
    session.feed().addPanel(&panel);
    panel.resize(400, 300);
    static_cast<QWidget&>(panel).show();
    return QTest::qWaitForWindowExposed(&panel);
  }
  static std::vector<std::int64_t> stepsOf(const ProbePanel& panel) {
    std::vector<std::int64_t> steps;
    for (const nlohmann::json& answer : panel.data().earlier) steps.push_back(answer["step"].get<std::int64_t>());
    return steps;
  }

  std::unique_ptr<FakeMachine> machine_;
};

QTEST_MAIN(PanelFeedTest)
#include "panel_feed_test.moc"
