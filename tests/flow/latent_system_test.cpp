#include "core/flow/latent_system.h"

#include <QTest>
#include <algorithm>
#include <cmath>

#include "core/flow/dense_matrix.h"
#include "core/flow/fixed_point.h"
#include "core/flow/reconstruction.h"
#include "tests/contract/sentence.h"
#include "tests/flow/random_numbers.h"

using namespace mambarium;

namespace {

const std::vector<StateUpdate> updates{{UpdateForm::continuous, 1},
                                       {UpdateForm::euler, 0.05},
                                       {UpdateForm::euler, 0.7},
                                       {UpdateForm::etd, 0.05},
                                       {UpdateForm::etd, 3}};

std::vector<double> evaluate(const AffineField& field, const std::vector<double>& z) {
  std::vector<double> v(field.r);
  field(z, v);
  return v;
}

// One step or the derivative, written down from the equations state by state.
std::vector<double> change_of_state(const LatentSystem& system, const std::vector<double>& b,
                                    const std::vector<double>& h, const StateUpdate& update) {
  std::vector<double> change(system.n);
  for (std::int64_t i = 0; i < system.n; ++i) {
    double coupled = 0;
    for (std::int64_t k = 0; k < system.r; ++k)
      for (std::int64_t j = 0; j < system.n; ++j)
        coupled += system.P[i * system.r + k] * system.Q[k * system.n + j] * h[j];
    const double a = system.A[i], dt = update.dt, decay = std::exp(dt * a);
    switch (update.form) {
      case UpdateForm::continuous:
        change[i] = a * h[i] + coupled + b[i];
        break;
      case UpdateForm::euler:
        change[i] = decay * h[i] + dt * coupled + dt * b[i] - h[i];
        break;
      case UpdateForm::etd:
        change[i] = decay * h[i] + (1 - decay) / -a * coupled + dt * b[i] - h[i];
        break;
    }
  }
  return change;
}

}  // namespace

class LatentSystemTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theFullFieldIsTheRecurrence() {
    RandomNumbers random(1);
    for (const StateUpdate& update : updates) {
      const LatentSystem system = random_system(random, 16, 2, 0.3);
      const std::vector<double> b = random.normals(16), h = random.normals(16);
      QVERIFY(largest_difference(evaluate(full_field(system, b, update), h), change_of_state(system, b, h, update)) <
              1e-13);
    }
  }

  void theSteadyStateFieldIsZeroAtTheFullFixedPoint() {
    RandomNumbers random(2);
    double worst = 0;
    int compared = 0;
    for (int round = 0; round < 200; ++round)
      for (const StateUpdate& update : updates) {
        const auto n = 2 + std::int64_t(random.uniform(0, 31)), r = 1 + std::int64_t(random.uniform(0, 6));
        const LatentSystem system = random_system(random, n, r, 0.35);
        const std::vector<double> b = random.normals(n);
        const auto point = fixed_point(full_field(system, b, update));
        const auto latent = fixed_point(steady_state_field(system, b, update));
        QVERIFY(point && latent);
        const std::vector<double> z = read_state(system, point->z);
        worst = std::max(worst, length_of(evaluate(steady_state_field(system, b, update), z)));
        worst = std::max(worst, largest_difference(latent->z, z) / std::max(1.0, length_of(z)));
        QVERIFY(length_of(change_of_state(system, b, point->z, update)) < 1e-10);
        ++compared;
      }
    qInfo("%d systems, largest |v| and difference %.2g", compared, worst);
    QVERIFY(worst < 1e-10);
  }

  // n = 2, r = 1: h* = (1, 1/2), z* = 3/2; the smallest state with z has z/2 in both places, v = -3/2 z + 2.
  void theMinimumNormFieldRestsElsewhere() {
    const LatentSystem system{2, 1, {-1, -2}, {0, 0}, {1, 1}};
    const std::vector<double> b{1, 1};
    QVERIFY(std::abs(fixed_point(steady_state_field(system, b))->z[0] - 1.5) < 1e-15);
    QVERIFY(std::abs(fixed_point(minimum_norm_field(system, b))->z[0] - 4.0 / 3) < 1e-15);

    RandomNumbers random(3);
    int apart = 0;
    for (int round = 0; round < 100; ++round) {
      const LatentSystem other = random_system(random, 16, 2, 0.3);
      const std::vector<double> input = random.normals(16);
      const auto exact = fixed_point(steady_state_field(other, input)),
                 lifted = fixed_point(minimum_norm_field(other, input));
      apart += largest_difference(exact->z, lifted->z) > 0.01 * length_of(exact->z);
    }
    QCOMPARE(apart, 100);
  }

  void theFieldsAreTheSameWhereZIsTheWholeState() {
    RandomNumbers random(4);
    LatentSystem system = random_system(random, 3, 3, 0.3);
    for (std::int64_t i = 0; i < 3; ++i) system.Q[i * 3 + i] += 1;
    const std::vector<double> b = random.normals(3);
    for (const StateUpdate& update : updates) {
      const auto exact = fixed_point(steady_state_field(system, b, update));
      const auto lifted = fixed_point(minimum_norm_field(system, b, update));
      QVERIFY(largest_difference(exact->z, lifted->z) < 1e-11 * std::max(1.0, length_of(exact->z)));
    }
  }

  void theMinimumNormFieldIsTheVelocityOfTheSmallestState() {
    RandomNumbers random(5);
    for (const StateUpdate& update : updates) {
      const LatentSystem system = random_system(random, 16, 3, 0.3);
      const std::vector<double> b = random.normals(16), weights = random.normals(3);
      // A state in the row space of Q is the smallest of those with its z.
      const std::vector<double> h = multiply(weights, 1, 3, system.Q, 16);
      const std::vector<double> v = evaluate(minimum_norm_field(system, b, update), read_state(system, h));
      QVERIFY(largest_difference(v, read_state(system, change_of_state(system, b, h, update))) < 1e-12);
    }
  }

  void theMinimumChangeFieldIsTheTrueVelocityAtItsState() {
    RandomNumbers random(6);
    for (const StateUpdate& update : updates) {
      const LatentSystem system = random_system(random, 16, 2, 0.3);
      const std::vector<double> b = random.normals(16), h = random.normals(16);
      const std::vector<double> z = read_state(system, h),
                                truth = read_state(system, change_of_state(system, b, h, update));
      QVERIFY(largest_difference(evaluate(minimum_change_field(system, b, h, update), z), truth) < 1e-12);
      QVERIFY(largest_difference(evaluate(minimum_norm_field(system, b, update), z), truth) > 1e-3);
    }
  }

  // Over a short token both displacements are dt times the velocity.
  void shortTokensBecomeContinuous() {
    RandomNumbers random(7);
    const LatentSystem system = random_system(random, 8, 2, 0.3);
    const std::vector<double> b = random.normals(8), z = random.normals(2);
    constexpr double dt = 1e-6;
    const std::vector<double> velocity = evaluate(minimum_norm_field(system, b), z);
    for (const UpdateForm form : {UpdateForm::euler, UpdateForm::etd}) {
      std::vector<double> step = evaluate(minimum_norm_field(system, b, {form, dt}), z);
      for (double& value : step) value /= dt;
      QVERIFY(largest_difference(step, velocity) < 100 * dt);
      const std::vector<double> rest = evaluate(steady_state_field(system, b), z);
      QVERIFY(largest_difference(evaluate(steady_state_field(system, b, {form, dt}), z), rest) < 100 * dt);
    }
  }

  void theModelGoesToItsStableFixedPoint() {
    RandomNumbers random(8);
    for (const UpdateForm form : {UpdateForm::euler, UpdateForm::etd}) {
      const LatentSystem system = random_system(random, 16, 2, 0.15);
      const std::vector<double> b = random.normals(16);
      const AffineField field = full_field(system, b, {form, 0.2});
      const auto point = fixed_point(field);
      QCOMPARE(field.kind, FieldKind::displacement);
      QCOMPARE(point->stability.stable, std::int64_t{16});
      std::vector<double> h(16);
      for (int token = 0; token < 1000; ++token) {
        const std::vector<double> change = change_of_state(system, b, h, {form, 0.2});
        for (std::int64_t i = 0; i < 16; ++i) h[i] += change[i];
      }
      QVERIFY(largest_difference(h, point->z) < 1e-12);
    }
  }

  // dh/dt = -h + h has every state as a fixed point.
  void aSingularSystemIsTold() {
    const LatentSystem system{1, 1, {-1}, {1}, {1}};
    const std::vector<double> b{0.5};
    QVERIFY(!fixed_point(full_field(system, b)));
    QVERIFY(!fixed_point(steady_state_field(system, b)));
  }

  void etdFactorsAreExactForShortTokens() {
    const std::vector<double> A{-1e-12, -1, -16};
    const TokenFactors factors = token_factors(A, {UpdateForm::etd, 1e-3});
    QVERIFY(std::abs(factors.coupling[0] / 1e-3 - 1) < 1e-14);
    QVERIFY(std::abs(factors.coupling[1] / (1e-3 - 5e-7 + 1e-9 / 6 - 1e-12 / 24) - 1) < 1e-14);
    QCOMPARE(token_factors(A, {UpdateForm::euler, 1e-3}).coupling, std::vector<double>(3, 1e-3));
  }

  void badSystemsAreRefusedInOneSentence() {
    const LatentSystem good{2, 1, {-1, -2}, {0, 0}, {1, 1}};
    const auto refused = [](const LatentSystem& system, std::vector<double> b, StateUpdate update, const char* word) {
      try {
        steady_state_field(system, b, update);
      } catch (const std::invalid_argument& error) {
        return is_one_sentence(error.what()) && mentions(error.what(), word);
      }
      return false;
    };
    LatentSystem bad = good;
    bad.A[1] = 0;
    QVERIFY(refused(bad, {1, 1}, {}, "A holds 0"));
    bad = good;
    bad.P.pop_back();
    QVERIFY(refused(bad, {1, 1}, {}, "P holds 1 numbers, but n x r is 2"));
    bad = good;
    bad.Q[0] = INFINITY;
    QVERIFY(refused(bad, {1, 1}, {}, "Q holds"));
    bad = good;
    bad.n = -1;
    QVERIFY(refused(bad, {1, 1}, {}, "n is -1"));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, minimum_norm_field(bad, std::vector<double>{1}));
    QVERIFY(refused(good, {1}, {}, "2 finite numbers"));
    QVERIFY(refused(good, {1, NAN}, {}, "b must be"));
    QVERIFY(refused(good, {1, 1}, {UpdateForm::euler, 0}, "dt is 0"));
    QVERIFY(!refused(good, {1, 1}, {}, ""));
  }
};

QTEST_APPLESS_MAIN(LatentSystemTest)
#include "latent_system_test.moc"
