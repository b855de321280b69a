#include "core/estimators/estimators.h"

#include <QTest>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "statistics.h"

using namespace mambarium;

namespace {

// Counts the whole past again for every prediction.
std::vector<double> add_beta_by_counting(std::span<const std::int32_t> past, std::size_t order, std::size_t states,
                                         double beta) {
  std::vector<double> counts(states, 0.0);
  double total = 0;
  if (past.size() >= order) {
    const auto context = past.last(order);
    for (std::size_t t = order; t < past.size(); ++t) {
      if (!std::ranges::equal(past.subspan(t - order, order), context)) continue;
      ++counts[static_cast<std::size_t>(past[t])];
      ++total;
    }
  }
  for (double& count : counts) count = (count + beta) / (total + static_cast<double>(states) * beta);
  return counts;
}

// The probability of a sequence of the binary switching process of order 1, token 2 the switch: every chain's two rows
// integrated over numerically, by Gauss and Legendre's rule of eight nodes, which is exact for these polynomials.
double switching_probability(std::span<const std::int32_t> tokens, double p_switch) {
  constexpr std::array<double, 4> node = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                          0.9602898564975363};
  constexpr std::array<double, 4> weight = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                            0.1012285362903763};
  std::vector<std::pair<double, double>> rule;  // on 0 to 1
  for (std::size_t i = 0; i < node.size(); ++i) {
    for (const double sign : {-1.0, 1.0}) rule.emplace_back((1 + sign * node[i]) / 2, weight[i] / 2);
  }
  double probability = 1;
  for (std::size_t begin = 0; begin < tokens.size();) {
    std::size_t end = begin;
    while (end < tokens.size() && tokens[end] != 2) ++end;
    double of_chain = 0;
    for (const auto& [one_after_zero, first_weight] : rule) {
      for (const auto& [one_after_one, second_weight] : rule) {
        double product = first_weight * second_weight;
        for (std::size_t t = begin; t < end; ++t) {
          const double one = t == begin ? 0.5 : tokens[t - 1] == 0 ? one_after_zero : one_after_one;
          product *= (1 - p_switch) * (tokens[t] == 1 ? one : 1 - one);
        }
        of_chain += product;
      }
    }
    probability *= of_chain * (end < tokens.size() ? p_switch : 1);
    begin = end + 1;
  }
  return probability;
}

}  // namespace

class EstimatorsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void addBetaEqualsBruteForce() {
    for (const std::size_t states : {std::size_t{2}, std::size_t{3}}) {
      SequenceBatch batch;
      MarkovTask(2, static_cast<std::int64_t>(states), 1.0, 60).generate(Stream(1, "data"), 0, 4, false, batch);
      for (const std::size_t order : {0u, 1u, 2u, 3u, 5u}) {
        for (const double beta : {0.5, 1.0, 2.0}) {
          const auto estimator =
              make_add_beta(static_cast<std::int64_t>(order), static_cast<std::int64_t>(states), beta);
          for (std::int64_t n = 0; n < batch.batch; ++n) {
            const auto tokens = batch.sequence(n);
            estimator->reset();
            std::vector<double> predicted(states);
            for (std::size_t t = 0; t < tokens.size(); ++t) {
              estimator->predict(predicted);
              QVERIFY(predicted == add_beta_by_counting(tokens.first(t), order, states, beta));
              estimator->observe(tokens[t]);
            }
          }
        }
      }
    }
  }

  void switchingEqualsBayesianIntegration() {
    constexpr double p_switch = 0.07;
    const auto estimator = make_switching_bayes(1, 2, 1.0, p_switch);
    std::vector<double> predicted(3);
    for (std::int32_t number = 0; number < 729; ++number) {
      std::vector<std::int32_t> tokens;
      for (std::int32_t i = 0, rest = number; i < 6; ++i, rest /= 3) tokens.push_back(rest % 3);
      estimator->reset();
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        estimator->predict(predicted);
        const std::span<const std::int32_t> past(tokens.data(), t), with_next(tokens.data(), t + 1);
        const double expected = switching_probability(with_next, p_switch) / switching_probability(past, p_switch);
        QVERIFY(std::abs(predicted[static_cast<std::size_t>(tokens[t])] - expected) <= 1e-10);
        estimator->observe(tokens[t]);
      }
    }
    QVERIFY_EXCEPTION_THROWN(make_switching_bayes(1, 2, 1.0, 1.5), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(estimator->observe(3), std::invalid_argument);
  }

  // The loss of the Bayes predictor at T = 512 and p_switch = 0.01 is 0.5637 +- 0.0005 by 60,000 other sequences.
  void switchingLossIsTheKnownOne() {
    constexpr double p_switch = 0.01;
    std::mt19937_64 generator(3);
    std::uniform_real_distribution<double> uniform;
    const auto estimator = make_switching_bayes(1, 2, 1.0, p_switch);
    std::vector<double> losses;
    for (int sequence = 0; sequence < 40'000; ++sequence) {
      std::vector<std::int32_t> tokens;
      std::array<double, 2> one_after{};
      for (int t = 0; t < 513; ++t) {
        const bool fresh = tokens.empty() || tokens.back() == 2;
        if (fresh) one_after = {uniform(generator), uniform(generator)};
        const double one = fresh ? 0.5 : one_after[static_cast<std::size_t>(tokens.back())];
        const bool switches = uniform(generator) < p_switch;
        tokens.push_back(switches ? 2 : uniform(generator) < one ? 1 : 0);
      }
      losses.push_back(mean_loss(*estimator, tokens));
    }
    const MeanAndError found = mean_and_error(losses);
    qInfo("loss %.5f +- %.5f", found.mean, found.standard_error);
    QVERIFY(3 * found.standard_error <= 0.002);
    QVERIFY(std::abs(found.mean - 0.5637) <= 0.002);
  }

  // After 0 1 0 1 0 1 and after 0 0 0 1 1 1 the last symbol is the same, but P(1) is 1/4 and 3/4 (paper 1, App. C.1).
  void confusablePair() {
    const auto after = [](std::initializer_list<std::int32_t> tokens) {
      const auto estimator = make_add_beta(1, 2, 1.0);
      for (const std::int32_t token : tokens) estimator->observe(token);
      std::vector<double> predicted(2);
      estimator->predict(predicted);
      return predicted[1];
    };
    QCOMPARE(after({0, 1, 0, 1, 0, 1}), 0.25);
    QCOMPARE(after({0, 0, 0, 1, 1, 1}), 0.75);
  }

  void oracleReadsTheRowOfTheContext() {
    const std::vector<float> kernel{0.1f, 0.9f, 0.2f, 0.8f, 0.3f, 0.7f, 0.4f, 0.6f};
    const auto oracle = make_oracle(2, 2, kernel);
    std::vector<double> predicted(2);
    oracle->predict(predicted);
    QCOMPARE(predicted[0], 0.5);
    oracle->observe(0);
    oracle->predict(predicted);
    QCOMPARE(predicted[0], 0.5);
    oracle->observe(1);
    oracle->predict(predicted);
    QCOMPARE(predicted[0], double{0.2f});
    oracle->observe(0);
    oracle->predict(predicted);
    QCOMPARE(predicted[0], double{0.3f});
    oracle->reset();
    oracle->predict(predicted);
    QCOMPARE(predicted[0], 0.5);
  }

  void uniformLossIsLogStates() {
    const std::vector<std::int32_t> tokens{0, 4, 2, 1, 3};
    QCOMPARE(mean_loss(*make_uniform(5), tokens), std::log(5.0));
  }

  void batchedLossesEqualTheEstimators_data() {
    QTest::addColumn<int>("order");
    QTest::addColumn<int>("states");
    QTest::addColumn<double>("beta");
    QTest::addColumn<int>("length");
    QTest::newRow("order 0") << 0 << 3 << 1.0 << 20;
    QTest::newRow("order 1") << 1 << 2 << 1.0 << 50;
    QTest::newRow("order 3, beta 0.5") << 3 << 3 << 0.5 << 50;
    QTest::newRow("shorter than the order") << 4 << 2 << 1.0 << 2;
    QTest::newRow("as long as the order") << 4 << 2 << 1.0 << 4;
  }
  void batchedLossesEqualTheEstimators() {
    QFETCH(int, order);
    QFETCH(int, states);
    QFETCH(double, beta);
    QFETCH(int, length);
    const MarkovTask task(order, states, beta, length);
    SequenceBatch batch;
    task.generate(Stream(2, "test"), 5, 7, true, batch);
    const EstimatorLosses losses = estimator_losses(task, batch);
    QCOMPARE(losses.add_beta.size(), std::size_t{7});
    const auto add_beta = make_add_beta(order, states, beta);
    for (std::int64_t n = 0; n < 7; ++n) {
      const auto oracle = make_oracle(order, states, batch.kernel(n));
      const auto i = static_cast<std::size_t>(n);
      QVERIFY(std::abs(losses.add_beta[i] - mean_loss(*add_beta, batch.sequence(n))) < 1e-12);
      QVERIFY(std::abs(losses.oracle[i] - mean_loss(*oracle, batch.sequence(n))) < 1e-12);
    }
  }

  // The price of not knowing the kernel, in nats per token (Monte Carlo, rounded to 1e-4, by an independent program).
  void priceOfNotKnowingTheKernel_data() {
    QTest::addColumn<int>("order");
    QTest::addColumn<int>("length");
    QTest::addColumn<double>("expected");
    const double table[3][4] = {
        {.0250, .0385, .0575, .0816}, {.0150, .0240, .0380, .0573}, {.0089, .0147, .0238, .0379}};
    for (int i = 0; i < 3; ++i) {
      for (int order = 1; order <= 4; ++order) {
        QTest::addRow("T=%d k=%d", 128 << i, order) << order << (128 << i) << table[i][order - 1];
      }
    }
  }
  void priceOfNotKnowingTheKernel() {
    QFETCH(int, order);
    QFETCH(int, length);
    QFETCH(double, expected);
    const MarkovTask task(order, 2, 1.0, length);
    constexpr double margin = 0.0005;
    constexpr std::int64_t kernels = 40000;
    SequenceBatch batch;
    std::vector<double> gaps;
    for (std::int64_t first = 0; first < kernels; first += 1000) {
      task.generate(Stream(0, "price"), first, 1000, true, batch);
      const EstimatorLosses losses = estimator_losses(task, batch);
      for (std::size_t i = 0; i < 1000; ++i) gaps.push_back(losses.add_beta[i] - losses.oracle[i]);
    }
    const auto [mean, standard_error] = mean_and_error(gaps);
    std::printf("add-1 minus oracle, T=%d k=%d: %.5f +- %.5f (table %.4f)\n", length, order, mean, standard_error,
                expected);
    QVERIFY(standard_error < margin / 3);
    QVERIFY(std::abs(mean - expected) < margin);
  }

  void refusesWhatCannotBe() {
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_add_beta(1, 2, 0.0));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_add_beta(40, 2, 1.0));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_oracle(1, 2, std::vector<float>(3)));
    const auto estimator = make_add_beta(0, 2, 1.0);
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, estimator->observe(2));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, estimator->observe(-1));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, mean_loss(*estimator, std::vector<std::int32_t>{1}));
  }
};

QTEST_APPLESS_MAIN(EstimatorsTest)
#include "estimators_test.moc"
