// What panels are fed beyond the newest answer: those at earlier steps, for panels that want them.

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
    QTest::qWait(150);
    const int asked = machine_->count(QStringLiteral("inspect"));
    QTest::qWait(150);
    QCOMPARE(machine_->count(QStringLiteral("inspect")), asked);

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

 private:
  static std::vector<std::int64_t> stepsOf(const ProbePanel& panel) {
    std::vector<std::int64_t> steps;
    for (const nlohmann::json& answer : panel.data().earlier) steps.push_back(answer["step"].get<std::int64_t>());
    return steps;
  }

  std::unique_ptr<FakeMachine> machine_;
};

QTEST_MAIN(PanelFeedTest)
#include "panel_feed_test.moc"
