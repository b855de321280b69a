#include "core/training/learning_rate.h"

#include <QTest>
#include <cmath>
#include <stdexcept>

using namespace mambarium;

namespace {

// PyTorch documents two phases: up to step pct_start * total_steps - 1 from max_lr / div_factor to max_lr, and from
// there to total_steps - 1 down to initial_lr / final_div_factor; each anneals with 1/2 (1 + cos(pi share)).
double one_cycle_by_formula(double highest, int step, int steps) {
  const double initial = highest / 100;
  struct {
    double begin, end, from, to;
  } const phases[2] = {{0, .02 * steps - 1, initial, highest}, {.02 * steps - 1, steps - 1.0, highest, initial / .05}};
  const auto& phase = phases[step > phases[0].end];
  const double share = (step - phase.begin) / (phase.end - phase.begin);
  return phase.from * (std::cos(M_PI * share) + 1) / 2 + phase.to * (1 - std::cos(M_PI * share)) / 2;
}

}  // namespace

class LearningRateTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void followsTheFormula() {
    for (const int steps : {51, 100, 137, 400, 2000, 3001}) {
      for (int step = 0; step < steps; ++step) {
        const double expected = one_cycle_by_formula(.002, step, steps);
        QVERIFY(std::abs(learning_rate(Schedule::one_cycle, .002, step, steps) - expected) < 1e-15);
      }
    }
  }

  void startsPeaksAndEnds() {
    QCOMPARE(learning_rate(Schedule::one_cycle, .002, 0, 2000), .002 / 100);
    QCOMPARE(learning_rate(Schedule::one_cycle, .002, 39, 2000), .002);
    QCOMPARE(learning_rate(Schedule::one_cycle, .002, 1999, 2000), .002 / 5);
    // The warm-up of 100 steps ends at step 1; half way between 1 and 99 is half way between lr and lr/5.
    QCOMPARE(learning_rate(Schedule::one_cycle, .002, 1, 100), .002);
    QCOMPARE(learning_rate(Schedule::one_cycle, .002, 50, 100), .0012);
  }

  void shortRunsStayFiniteAndWithinRange() {
    for (int steps = 1; steps <= 60; ++steps) {
      for (int step = 0; step < steps; ++step) {
        const double rate = learning_rate(Schedule::one_cycle, .002, step, steps);
        QVERIFY(rate >= .002 / 100 * (1 - 1e-12) && rate <= .002 * (1 + 1e-12));
      }
    }
  }

  void constantStaysConstant() {
    for (const int step : {0, 1, 99}) QCOMPARE(learning_rate(Schedule::constant, .003, step, 100), .003);
  }

  void names() {
    QVERIFY(schedule_from_name("onecycle") == Schedule::one_cycle);
    QVERIFY(schedule_from_name("constant") == Schedule::constant);
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, schedule_from_name("linear"));
  }
};

QTEST_APPLESS_MAIN(LearningRateTest)
#include "learning_rate_test.moc"
