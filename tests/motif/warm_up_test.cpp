// Warm-ups of couplings of 16 nodes: how many steps they take, where they end, and AdamW step by step.
#include "core/motif/warm_up.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "core/motif/soft_census.h"
#include "tests/contract/sentence.h"

using namespace mambarium;

namespace {

constexpr std::size_t n = 16;
constexpr int seeds = 25;

Coupling start(std::size_t rank, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  return draw_coupling(n, rank, [&](std::string_view, std::span<double> out) {
    for (double& number : out) number = normal(random);
  });
}

WarmUpSettings three_thousand_steps() {
  WarmUpSettings settings;
  settings.max_steps = 3000;
  return settings;
}

// Those that do not get there count as the longest.
double median_steps(const char* target, std::size_t rank) {
  std::vector<std::int64_t> steps;
  for (unsigned seed = 0; seed < seeds; ++seed)
    steps.push_back(run_warm_up(start(rank, seed), motif_target(target), {}, three_thousand_steps()).steps);
  std::ranges::sort(steps);
  return static_cast<double>(steps[seeds / 2]);
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace

class WarmUpTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void underAHighestNormEveryStepStaysBelowIt() {
    WarmUpSettings settings{.stop_fraction = 0, .max_steps = 400};
    const MotifTarget target = motif_target("021U");
    const double freely = spectral_norm(run_warm_up(start(2, 1), target, {}, settings).coupling);
    settings.highest_norm = freely / 2;
    WarmUp held(start(2, 1), target, {}, settings);
    while (!held.finished()) {
      held.advance();
      QVERIFY(spectral_norm(held.coupling()) <= settings.highest_norm * (1 + 1e-6));
      QCOMPARE(held.loss().value, motif_loss(coupling_matrix(held.coupling()), n, target, {}).value);
    }
    QVERIFY(spectral_norm(held.coupling()) > 0.99 * settings.highest_norm);
    settings.highest_norm = -1;
    QVERIFY(refusal([&] { WarmUp(start(2, 1), target, {}, settings); }).find("highest norm") != std::string::npos);
  }

  // Medians of 5 seeds of an implementation in float64 that shares nothing with this one.
  void theMedianOfTheStepsIsThatOfTheReference_data() {
    QTest::addColumn<QString>("target");
    QTest::addColumn<int>("rank");
    QTest::addColumn<double>("steps");
    QTest::newRow("Motif-2, rank 1") << "2" << 1 << 168.0;
    QTest::newRow("Motif-2, rank 2") << "2" << 2 << 137.0;
    QTest::newRow("Motif-2, rank 4") << "2" << 4 << 122.0;
    QTest::newRow("Motif-12, rank 1") << "12" << 1 << 270.0;
    QTest::newRow("Motif-12, rank 2") << "12" << 2 << 220.0;
    QTest::newRow("Motif-12, rank 4") << "12" << 4 << 156.0;
  }
  void theMedianOfTheStepsIsThatOfTheReference() {
    QFETCH(QString, target);
    QFETCH(int, rank);
    QFETCH(double, steps);
    const double median = median_steps(qPrintable(target), static_cast<std::size_t>(rank));
    QVERIFY2(std::abs(median - steps) <= 0.15 * steps, qPrintable(QString::number(median)));
  }

  // The product of the three entries a cycle needs is that of the three it must not have.
  void aCouplingOfRankOneNeverMakesACycle() {
    for (const char* target : {"2", "10", "11", "12", "FRP"})
      for (unsigned seed = 0; seed < 3; ++seed) {
        WarmUpSettings settings;
        settings.max_steps = 600;
        settings.stop_fraction = 0;
        WarmUp warm_up(start(1, seed), motif_target(target), {}, settings);
        std::int64_t edges = 0;
        while (!warm_up.finished()) {
          for (int i = 0; i < 20; ++i) warm_up.advance();
          const WarmUpResult result = warm_up.result();
          QCOMPARE(result.hard[triad_030c], std::int64_t{0});
          edges += static_cast<std::int64_t>(result.edge_density * n * (n - 1));
        }
        QVERIFY(edges > 0);
      }
  }

  void ofRankThreeACycleCanBeReached() {
    const WarmUpResult result = run_warm_up(start(3, 0), motif_target("030C"), {}, three_thousand_steps());
    QVERIFY(result.reached);
    QVERIFY(result.hard[triad_030c] > 50);
  }

  void itEndsAtTheFirstStepAtATenthOfTheLoss() {
    WarmUp warm_up(start(2, 1), motif_target("2"), {}, three_thousand_steps());
    const double first = warm_up.loss().value;
    double before = first;
    while (!warm_up.finished()) {
      before = warm_up.loss().value;
      warm_up.advance();
    }
    QVERIFY(before > 0.1 * first);
    const WarmUpResult result = warm_up.result();
    QVERIFY(result.reached && result.final_loss <= 0.1 * first);
    QCOMPARE(result.initial_loss, first);
    QVERIFY(std::abs(first - 0.0624) < 1e-4);
    QVERIFY(result.soft[1] / triple_count(n) >= 0.17);
    const std::int64_t steps = warm_up.step();
    warm_up.advance();
    QCOMPARE(warm_up.step(), steps);
  }

  void withoutAStopItSettlesOnTheTarget() {
    WarmUpSettings settings = three_thousand_steps();
    settings.stop_fraction = 0;
    const WarmUpResult result = run_warm_up(start(2, 2), motif_target("2"), {}, settings);
    QCOMPARE(result.steps, std::int64_t{3000});
    QVERIFY(std::abs(result.soft[1] / triple_count(n) - 0.25) < 1e-3);
    QVERIFY(spectral_norm(result.coupling) > 0.07 && spectral_norm(result.coupling) < 0.17);
  }

  void theResultIsThatOfItsCoupling() {
    const WarmUpResult result = run_warm_up(start(2, 3), motif_target("12"), {}, three_thousand_steps());
    const std::vector<double> matrix = coupling_matrix(result.coupling);
    QCOMPARE(result.soft, SoftCensus(soft_adjacency(matrix, n, {}), n).counts());
    const auto hard = hard_adjacency(matrix, n, {});
    QCOMPARE(result.hard, hard_census(hard, n));
    QCOMPARE(result.edge_density, edge_density(hard, n));
    QCOMPARE(result.final_loss, motif_loss(matrix, n, motif_target("12"), {}).value);
    QVERIFY(result.mean_edge_entropy > 0 && result.mean_edge_entropy < 1);
  }

  // AdamW written out beside it: an epsilon, a decay and a clip large enough to be seen.
  void stepsAreThoseOfAdamW() {
    WarmUpSettings settings;
    settings.learning_rate = 2e-3;
    settings.weight_decay = 0.1;
    settings.epsilon = 1e-3;
    settings.clip = 0.01;
    const MotifTarget target = motif_target("FRP");
    WarmUp warm_up(start(2, 4), target, {}, settings);
    Coupling expected = start(2, 4);
    const std::size_t size = 2 * n * 2 + 1;
    std::vector<double> m(size), v(size);
    for (int step = 1; step <= 100; ++step) {
      const auto gradient = coupling_gradient(expected, motif_loss(coupling_matrix(expected), n, target, {}).gradient);
      std::vector<double> g(gradient.p);
      g.insert(g.end(), gradient.q.begin(), gradient.q.end());
      g.push_back(gradient.k);
      double squares = 0;
      for (double& x : g) {
        x *= 1e6;
        squares += x * x;
      }
      const double shorten = std::min(1.0, 0.01 / (std::sqrt(squares) + 1e-6));
      for (std::size_t i = 0; i < size; ++i) {
        double& value = i < 2 * n ? expected.p[i] : i < 4 * n ? expected.q[i - 2 * n] : expected.k;
        m[i] = 0.9 * m[i] + 0.1 * shorten * g[i];
        v[i] = 0.999 * v[i] + 0.001 * std::pow(shorten * g[i], 2);
        const double m_hat = m[i] / (1 - std::pow(0.9, step)), v_hat = v[i] / (1 - std::pow(0.999, step));
        value = value * (1 - 2e-3 * 0.1) - 2e-3 * m_hat / (std::sqrt(v_hat) + 1e-3);
      }
      warm_up.advance();
      for (std::size_t i = 0; i < 2 * n; ++i) QVERIFY(std::abs(warm_up.coupling().p[i] - expected.p[i]) < 1e-12);
      QVERIFY(std::abs(warm_up.coupling().k - expected.k) < 1e-12);
    }
  }

  void theHistoryIsThinnedAndKeepsItsEnds() {
    WarmUpSettings settings = three_thousand_steps();
    settings.stop_fraction = 0;
    settings.max_steps = 2999;
    const WarmUpResult result = run_warm_up(start(1, 5), motif_target("2"), {}, settings);
    QVERIFY(result.history.size() <= 512 && result.history.size() > 200);
    QCOMPARE(result.history.front().step, std::int64_t{0});
    QCOMPARE(result.history.back().step, std::int64_t{2999});
    QCOMPARE(result.history.back().loss, result.final_loss);
    for (std::size_t i = 2; i + 1 < result.history.size(); ++i)
      QCOMPARE(result.history[i].step - result.history[i - 1].step, result.history[1].step);
  }

  void theLossOfThePaperWarmsUpToo() {
    const MotifLossSettings loss{MotifLossKind::r_squared, CensusShare::triples, {}};
    const WarmUpResult result = run_warm_up(start(2, 6), motif_target("FRP"), loss, three_thousand_steps());
    QVERIFY(result.reached);
    QVERIFY(std::abs(*result.r_squared - (1 - result.final_loss)) < 1e-12);
    QVERIFY(*result.r_squared > 0.8);
  }

  void settingsOutOfRangeAreRefused() {
    const auto refused = [](double WarmUpSettings::*setting, double value, std::string_view words) {
      WarmUpSettings settings;
      settings.*setting = value;
      const std::string message = refusal([&] { WarmUp(start(1, 0), motif_target("2"), {}, settings); });
      return is_one_sentence(message) && mentions(message, words);
    };
    QVERIFY(refused(&WarmUpSettings::learning_rate, 0, "learning rate"));
    QVERIFY(refused(&WarmUpSettings::beta1, 1, "beta1"));
    QVERIFY(refused(&WarmUpSettings::beta2, -0.1, "beta2"));
    QVERIFY(refused(&WarmUpSettings::epsilon, std::numeric_limits<double>::infinity(), "epsilon"));
    QVERIFY(refused(&WarmUpSettings::weight_decay, -1, "weight decay"));
    QVERIFY(refused(&WarmUpSettings::loss_scale, std::nan(""), "loss scale"));
    QVERIFY(refused(&WarmUpSettings::clip, 0, "clip"));
    QVERIFY(refused(&WarmUpSettings::stop_fraction, 1, "stop fraction"));
    WarmUpSettings settings;
    settings.max_steps = 0;
    QVERIFY(mentions(refusal([&] { WarmUp(start(1, 0), motif_target("2"), {}, settings); }), "steps"));
  }
};

QTEST_APPLESS_MAIN(WarmUpTest)
#include "warm_up_test.moc"
