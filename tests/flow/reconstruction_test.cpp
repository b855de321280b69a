#include "core/flow/reconstruction.h"

#include <QTest>
#include <algorithm>
#include <cmath>

#include "core/flow/dense_matrix.h"
#include "tests/contract/sentence.h"
#include "tests/flow/random_numbers.h"

using namespace mambarium;

namespace {

struct Run {
  LatentSystem system;
  ReplayInputs inputs;
  std::vector<double> z, h;  // z_0 .. z_{T-1}, h_1 .. h_T
};

// The recurrence with its dense transition matrix diag(exp(dt A)) + g . P Q, as a whole state, never by z.
Run random_run(RandomNumbers& random, UpdateForm form, std::int64_t tokens, std::int64_t n, std::int64_t r) {
  Run run{random_system(random, n, r, 0.25), {form, random.normals(n), {}, random.normals(tokens * n)}, {}, {}};
  const std::vector<double> M = multiply(run.system.P, n, r, run.system.Q, n);
  std::vector<double> state = run.inputs.h0, next(n);
  for (std::int64_t t = 0; t < tokens; ++t) {
    const double dt = run.inputs.dt.emplace_back(std::exp(random.uniform(std::log(1e-3), std::log(0.1))));
    const std::vector<double> z = read_state(run.system, state);
    run.z.insert(run.z.end(), z.begin(), z.end());
    for (std::int64_t i = 0; i < n; ++i) {
      const double a = run.system.A[i], decay = std::exp(dt * a);
      const double coupling = form == UpdateForm::euler ? dt : (1 - decay) / -a;
      next[i] = dt * run.inputs.b[t * n + i];
      for (std::int64_t j = 0; j < n; ++j) next[i] += ((i == j ? decay : 0) + coupling * M[i * n + j]) * state[j];
    }
    state = next;
    run.h.insert(run.h.end(), state.begin(), state.end());
  }
  return run;
}

}  // namespace

class ReconstructionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void statesAreReplayedFromTheLatentTrajectory_data() {
    QTest::addColumn<bool>("euler");
    QTest::newRow("euler") << true;
    QTest::newRow("etd") << false;
  }
  void statesAreReplayedFromTheLatentTrajectory() {
    QFETCH(bool, euler);
    RandomNumbers random(euler ? 1 : 2);
    double worst = 0, largest = 0;
    for (int round = 0; round < 40; ++round) {
      const auto r = 1 + std::int64_t(random.uniform(0, 4));
      const Run run = random_run(random, euler ? UpdateForm::euler : UpdateForm::etd, 2048, 16, r);
      const ReplayError error = replay_error(run.system, run.inputs, run.z, run.h);
      worst = std::max(worst, error.largest);
      largest = std::max(largest, error.largest_state);
      QCOMPARE(std::ranges::max(error.per_token), error.largest);
      QCOMPARE(error.per_token[error.largest_token], error.largest);
    }
    qInfo("T = 2048: largest error %.2g, largest |h| %.3g", worst, largest);
    QVERIFY(largest > 0.5);
    QVERIFY(worst < 1e-12);
  }

  void aWrongTrajectoryIsNoticed() {
    RandomNumbers random(3);
    for (const UpdateForm form : {UpdateForm::euler, UpdateForm::etd}) {
      Run run = random_run(random, form, 256, 16, 2);
      run.z[2 * 100] += 0.1;
      const ReplayError error = replay_error(run.system, run.inputs, run.z, run.h);
      QVERIFY(error.largest > 1e-6);
      QCOMPARE(error.largest_token, std::int64_t{100});
      QVERIFY(error.per_token[99] < 1e-12);
      QVERIFY(error.per_token[100] > 1e-6);
    }
  }

  void theOtherFormIsNoticed() {
    RandomNumbers random(4);
    Run run = random_run(random, UpdateForm::euler, 256, 16, 2);
    run.inputs.form = UpdateForm::etd;
    QVERIFY(replay_error(run.system, run.inputs, run.z, run.h).largest > 1e-4);
  }

  void theLatentFollowsFromItsHistory() {
    RandomNumbers random(5);
    for (const UpdateForm form : {UpdateForm::euler, UpdateForm::etd}) {
      const Run run = random_run(random, form, 512, 16, 2);
      std::vector<double> expected(run.z.begin() + 2, run.z.end());
      const std::vector<double> last = read_state(run.system, std::vector<double>(run.h.end() - 16, run.h.end()));
      expected.insert(expected.end(), last.begin(), last.end());
      QVERIFY(largest_difference(latent_from_history(run.system, run.inputs, run.z), expected) < 1e-12);
    }
  }

  // What token s brought is still in z much later: the equation of z has memory.
  void theFirstTokensAreStillInTheLast() {
    RandomNumbers random(6);
    const Run run = random_run(random, UpdateForm::etd, 64, 16, 2);
    std::vector<double> changed = run.z;
    changed[0] += 1;
    const std::vector<double> before = latent_from_history(run.system, run.inputs, run.z);
    const std::vector<double> after = latent_from_history(run.system, run.inputs, changed);
    QVERIFY(std::abs(before[2 * 63] - after[2 * 63]) > 1e-8);
  }

  // Two states with the same z (0) and the same inputs part at the next token.
  void oneLatentPointHasManyStates() {
    const LatentSystem system{2, 1, {-1, -3}, {0.1, 0.2}, {1, 1}};
    const ReplayInputs one{UpdateForm::euler, {0, 0}, {0.5}, {0, 0}}, other{UpdateForm::euler, {1, -1}, {0.5}, {0, 0}};
    const std::vector<double> z{0};
    QVERIFY(std::abs(latent_from_history(system, one, z)[0] - latent_from_history(system, other, z)[0]) > 0.3);
  }

  void withoutTokensThereIsNothing() {
    RandomNumbers random(7);
    const LatentSystem system = random_system(random, 4, 2, 0.1);
    const ReplayInputs inputs{UpdateForm::euler, std::vector<double>(4), {}, {}};
    QVERIFY(replay_states(system, inputs, {}).empty());
    QCOMPARE(replay_error(system, inputs, {}, {}).largest, 0.0);
  }

  void aStateThatIsNoNumberIsTheLargestError() {
    RandomNumbers random(8);
    Run run = random_run(random, UpdateForm::euler, 8, 4, 2);
    run.h[4 * 3] = NAN;
    const ReplayError error = replay_error(run.system, run.inputs, run.z, run.h);
    QVERIFY(std::isnan(error.largest) && std::isnan(error.per_token[3]));
    QCOMPARE(error.largest_token, std::int64_t{3});
    QVERIFY(error.per_token[4] < 1e-12);
  }

  void badInputsAreRefusedInOneSentence() {
    RandomNumbers random(9);
    const Run good = random_run(random, UpdateForm::euler, 4, 4, 2);
    const auto refused = [](const Run& run, const char* words) {
      try {
        replay_error(run.system, run.inputs, run.z, run.h);
      } catch (const std::invalid_argument& error) {
        return is_one_sentence(error.what()) && mentions(error.what(), words);
      }
      return false;
    };
    Run bad = good;
    bad.z.pop_back();
    QVERIFY(refused(bad, "z holds 7 numbers, but T x r is 8"));
    bad = good;
    bad.inputs.b[0] = NAN;
    QVERIFY(refused(bad, "b holds a number that is not finite"));
    bad = good;
    bad.inputs.dt[2] = 0;
    QVERIFY(refused(bad, "dt is 0"));
    bad = good;
    bad.h.pop_back();
    QVERIFY(refused(bad, "T x n is 16"));
    bad = good;
    bad.inputs.form = UpdateForm::continuous;
    QVERIFY(refused(bad, "euler and etd"));
    QVERIFY(!refused(good, ""));
  }
};

QTEST_APPLESS_MAIN(ReconstructionTest)
#include "reconstruction_test.moc"
