#include "core/tasks/switching_task.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/estimators/estimators.h"
#include "core/estimators/known_task.h"
#include "core/tasks/dirichlet.h"
#include "statistics.h"

using namespace mambarium;

namespace {

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// One sequence drawn symbol by symbol from Stream and draw_cumulative_row, as switching_task.h documents them; the
// kernels in the same order.
struct Drawn {
  std::vector<std::int32_t> tokens;
  std::vector<float> kernels;
};
Drawn by_hand(const SwitchingTask& task, const Stream& stream, std::uint64_t n) {
  const auto states = task.chain().states(), order = task.chain().order(), contexts = task.chain().contexts();
  Drawn drawn;
  std::vector<std::vector<std::int64_t>> rows;
  std::int64_t stretch = 0;
  const auto fresh_kernel = [&] {
    rows.assign(index(contexts), std::vector<std::int64_t>(index(states - 1)));
    for (std::int64_t row = 0; row < contexts; ++row) {
      auto& cumulative = rows[index(row)];
      draw_cumulative_row(stream, n, static_cast<std::uint64_t>(stretch * contexts + row), task.chain().beta(),
                          cumulative);
      std::int64_t before = 0;
      for (const std::int64_t next : cumulative) {
        drawn.kernels.push_back(static_cast<float>(next - before) * 0x1p-31f);
        before = next;
      }
      drawn.kernels.push_back(static_cast<float>(probability_one - before) * 0x1p-31f);
    }
    ++stretch;
  };
  fresh_kernel();
  std::vector<std::int32_t> since;
  for (std::int64_t t = 0; t <= task.length(); ++t) {
    const auto words = stream.block(static_cast<std::uint64_t>(t / 2), n);
    const std::uint32_t for_switch = words[index(2 * (t % 2))], word = words[index(2 * (t % 2) + 1)];
    std::int32_t token = 0;
    if (static_cast<double>(for_switch) < std::round(task.p_switch() * 4294967296.0)) {
      token = task.switch_token();
      since.clear();
      fresh_kernel();
    } else if (std::ssize(since) < order) {
      token = static_cast<std::int32_t>((std::uint64_t{word} * static_cast<std::uint64_t>(states)) >> 32);
      since.push_back(token);
    } else {
      std::int64_t context = 0;
      for (std::int64_t back = order; back >= 1; --back) context = context * states + since[since.size() - index(back)];
      for (const std::int64_t cumulative : rows[index(context)]) token += (word >> 1) >= cumulative;
      since.push_back(token);
    }
    drawn.tokens.push_back(token);
  }
  return drawn;
}

}  // namespace

class SwitchingTaskTest : public QObject {
  Q_OBJECT

  void addShapes() {
    QTest::addColumn<int>("order");
    QTest::addColumn<int>("states");
    QTest::addColumn<double>("beta");
    QTest::addColumn<double>("p_switch");
    QTest::newRow("binary, order 1") << 1 << 2 << 1.0 << 0.05;
    QTest::newRow("binary, order 4, half of all") << 4 << 2 << 1.0 << 0.5;
    QTest::newRow("a die") << 0 << 6 << 1.0 << 0.1;
    QTest::newRow("three states, order 2, beta 0.5") << 2 << 3 << 0.5 << 0.1;
    QTest::newRow("37 states, beta 4") << 1 << 37 << 4.0 << 0.02;
  }

 private Q_SLOTS:
  void drawsWhatIsDocumented_data() { addShapes(); }
  void drawsWhatIsDocumented() {
    QFETCH(int, order);
    QFETCH(int, states);
    QFETCH(double, beta);
    QFETCH(double, p_switch);
    const SwitchingTask task(order, states, beta, 60, p_switch);
    const Stream stream(5, "data");
    SequenceBatch with_kernels, without;
    const std::int64_t first = (std::int64_t{1} << 32) - 7;
    task.generate(stream, first, 19, true, with_kernels);
    task.generate(stream, first, 19, false, without);
    QVERIFY(with_kernels.tokens == without.tokens);
    QVERIFY(without.kernels.empty());
    for (std::int64_t i = 0; i < 19; ++i) {
      const Drawn expected = by_hand(task, stream, static_cast<std::uint64_t>(first + i));
      QVERIFY(std::ranges::equal(with_kernels.sequence(i), expected.tokens));
      QVERIFY(std::ranges::equal(with_kernels.kernel(i), expected.kernels));
    }
  }

  void independentOfBatchAndLength() {
    const Stream stream(2, "data");
    const SwitchingTask task(2, 3, 0.7, 50, 0.1);
    SequenceBatch whole, part;
    task.generate(stream, 10, 40, true, whole);
    for (std::int64_t i = 0; i < 40; ++i) {
      task.generate(stream, 10 + i, 1, true, part);
      QVERIFY(std::ranges::equal(part.sequence(0), whole.sequence(i)));
      QVERIFY(std::ranges::equal(part.kernel(0), whole.kernel(i)));
    }
    SwitchingTask(2, 3, 0.7, 20, 0.1).generate(stream, 10, 40, false, part);
    for (std::int64_t i = 0; i < 40; ++i) QVERIFY(std::ranges::equal(part.sequence(i), whole.sequence(i).first(21)));
  }

  // Whether the position before was a switch, or the position is the first, makes no difference.
  void switchesComeAtTheirRateEverywhere() {
    for (const double p : {0.01, 0.3}) {
      const SwitchingTask task(1, 2, 1.0, 31, p);
      SequenceBatch batch;
      constexpr std::int64_t sequences = 40000;
      task.generate(Stream(3, "data"), 0, sequences, false, batch);
      std::vector<double> at(32);
      double after_switch = 0, switches_before_last = 0;
      for (std::int64_t n = 0; n < sequences; ++n) {
        const auto tokens = batch.sequence(n);
        for (std::size_t t = 0; t < 32; ++t) at[t] += tokens[t] == 2;
        for (std::size_t t = 1; t < 32; ++t) {
          switches_before_last += tokens[t - 1] == 2;
          after_switch += tokens[t - 1] == 2 && tokens[t] == 2;
        }
      }
      const double deviation = std::sqrt(p * (1 - p));
      for (const double count : at) QVERIFY(close(count / sequences, p, deviation, sequences));
      QVERIFY(close(after_switch / switches_before_last, p, deviation, switches_before_last));
    }
  }

  // The k tokens after a switch are uniform and independent of each other and of the stretch's kernel.
  void stretchesBeginUniformly() {
    const SwitchingTask task(2, 3, 1.0, 400, 0.02);
    SequenceBatch batch;
    task.generate(Stream(4, "data"), 0, 3000, true, batch);
    std::vector<double> pairs(9);
    std::vector<double> of_first;
    for (std::int64_t n = 0; n < batch.batch; ++n) {
      const auto tokens = batch.sequence(n);
      auto kernel = batch.kernel(n);
      for (std::size_t t = 0; t + 2 < tokens.size(); ++t) {
        if (tokens[t] != 3) continue;
        kernel = kernel.subspan(27);
        if (tokens[t + 1] == 3 || tokens[t + 2] == 3) continue;
        const std::int64_t pair = tokens[t + 1] * 3 + tokens[t + 2];
        ++pairs[index(pair)];
        of_first.push_back(double{kernel[index(pair * 3)]});
      }
    }
    double all = 0;
    for (const double count : pairs) all += count;
    QVERIFY(all > 10000);
    for (const double count : pairs) QVERIFY(close(count / all, 1.0 / 9, std::sqrt(8.0 / 81), all));
    const auto [mean, standard_error] = mean_and_error(of_first);
    QVERIFY(std::abs(mean - 1.0 / 3) < 4 * standard_error);
  }

  // A binary token is 1 as often as the row of its own stretch says, and the next stretch's row knows nothing of it
  // (summed over stretches, whose tokens depend on each other).
  void tokensFollowTheKernelOfTheirStretch() {
    const SwitchingTask task(1, 2, 1.0, 500, 0.02);
    SequenceBatch batch;
    task.generate(Stream(6, "data"), 0, 2000, true, batch);
    std::vector<double> against_own, excess_variance, against_next;
    for (std::int64_t n = 0; n < batch.batch; ++n) {
      const auto tokens = batch.sequence(n);
      const auto kernels = batch.kernel(n);
      const auto switches = std::ranges::count(tokens, 2);
      QCOMPARE(std::ssize(kernels), 4 * (switches + 1));
      std::size_t kernel = tokens[0] == 2 ? 4 : 0;
      double with_next = 0;
      for (std::size_t t = 1; t < tokens.size(); ++t) {
        if (tokens[t] == 2) {
          against_next.push_back(with_next);
          with_next = 0;
          kernel += 4;
        }
        if (tokens[t] == 2 || tokens[t - 1] == 2) continue;
        const std::size_t one = kernel + index(tokens[t - 1]) * 2 + 1;
        const double q = double{kernels[one]}, difference = tokens[t] - q;
        against_own.push_back(difference);
        excess_variance.push_back(difference * difference - q * (1 - q));
        if (one + 4 < kernels.size()) with_next += tokens[t] * (double{kernels[one + 4]} - 0.5);
      }
    }
    const auto own = mean_and_error(against_own), next = mean_and_error(against_next);
    QVERIFY(std::abs(own.mean) < 4 * own.standard_error);
    QVERIFY(std::abs(next.mean) < 4 * next.standard_error);
    const auto variance = mean_and_error(excess_variance);
    QVERIFY(std::abs(variance.mean) < 4 * variance.standard_error);
  }

  void batchedLossesEqualTheEstimators_data() { addShapes(); }
  void batchedLossesEqualTheEstimators() {
    QFETCH(int, order);
    QFETCH(int, states);
    QFETCH(double, beta);
    QFETCH(double, p_switch);
    for (const int length : {1, 3, 80}) {
      const SwitchingTask task(order, states, beta, length, p_switch);
      SequenceBatch batch;
      task.generate(Stream(2, "test"), 5, 12, true, batch);
      const EstimatorLosses losses = estimator_losses(task, batch);
      QCOMPARE(losses.add_beta.size(), std::size_t{12});
      const auto bayes = make_switching_bayes(order, states, beta, p_switch);
      for (std::int64_t n = 0; n < 12; ++n) {
        const auto oracle = make_switching_oracle(order, states, batch.kernel(n), p_switch);
        QVERIFY(std::abs(losses.add_beta[index(n)] - mean_loss(*bayes, batch.sequence(n))) < 1e-12);
        QVERIFY(std::abs(losses.oracle[index(n)] - mean_loss(*oracle, batch.sequence(n))) < 1e-12);
      }
    }
  }

  // 0.5637 +- 0.0005 by 60,000 sequences of an independent program. No predictor can do better than the oracle.
  void lossesAreTheKnownOnes() {
    const SwitchingTask task(1, 2, 1.0, 512, 0.01);
    SequenceBatch batch;
    std::vector<double> bayes, price;
    for (std::int64_t first = 0; first < 40000; first += 1000) {
      task.generate(Stream(0, "test"), first, 1000, true, batch);
      const EstimatorLosses losses = estimator_losses(task, batch);
      for (std::size_t i = 0; i < 1000; ++i) {
        bayes.push_back(losses.add_beta[i]);
        price.push_back(losses.add_beta[i] - losses.oracle[i]);
      }
    }
    const auto found = mean_and_error(bayes), floor = mean_and_error(price);
    qInfo("Bayes %.5f +- %.5f, above the oracle by %.5f +- %.5f", found.mean, found.standard_error, floor.mean,
          floor.standard_error);
    QVERIFY(3 * found.standard_error <= 0.002);
    QVERIFY(std::abs(found.mean - 0.5637) <= 0.002);
    QVERIFY(floor.mean > 10 * floor.standard_error);
  }

  void oracleReadsTheKernelOfTheStretch() {
    const std::vector<float> kernels{0.1f, 0.9f, 0.2f, 0.8f, 0.3f, 0.7f, 0.4f, 0.6f};
    const auto oracle = make_switching_oracle(1, 2, kernels, 0.25);
    std::vector<double> predicted(3);
    const auto after = [&](std::int32_t token) {
      oracle->observe(token);
      oracle->predict(predicted);
      return predicted[0];
    };
    QCOMPARE(oracle->states(), std::int64_t{3});
    QCOMPARE(after(1), 0.75 * double{0.2f});
    QCOMPARE(predicted[2], 0.25);
    QCOMPARE(after(2), 0.375);
    QCOMPARE(after(0), 0.75 * double{0.3f});
    QVERIFY_EXCEPTION_THROWN(oracle->observe(2), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(oracle->observe(3), std::invalid_argument);
    QCOMPARE(after(1), 0.75 * double{0.4f});
    oracle->reset();
    QCOMPARE(after(0), 0.75 * double{0.1f});
    QVERIFY_EXCEPTION_THROWN(make_switching_oracle(1, 2, std::span(kernels).first(6), 0.1), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(make_switching_oracle(1, 2, {}, 0.1), std::invalid_argument);
  }

  // The settings choose the process, and what is asked of the task is about that process.
  void settingsChooseTheProcess() {
    const auto config = config_from_share_string(
                            "mambarium1:task.kind=switching;task.order=2;task.states=3;task.beta=0.5;task.p_switch=0.2;"
                            "task.length=30")
                            .config;
    const auto known = make_task(config, Split::test);
    const SwitchingTask task(2, 3, 0.5, 30, 0.2);
    QCOMPARE(known->alphabet(), std::int64_t{4});
    SequenceBatch asked, expected;
    known->generate(Stream(1, "data"), 3, 5, true, asked);
    task.generate(Stream(1, "data"), 3, 5, true, expected);
    QVERIFY(asked.tokens == expected.tokens && asked.kernels == expected.kernels);
    QCOMPARE(known->losses(asked).oracle, estimator_losses(task, expected).oracle);
    const double bayes = mean_loss(*known->best_predictor(), asked.sequence(2));
    const double oracle = mean_loss(*known->oracle(asked.kernel(2)), asked.sequence(2));
    QVERIFY(std::abs(bayes - known->losses(asked).add_beta[2]) < 1e-12);
    QVERIFY(std::abs(oracle - known->losses(asked).oracle[2]) < 1e-12);

    // A batch that held stretches holds chains again.
    const MarkovTask chain(1, 2, 1.0, 30);
    chain.generate(Stream(1, "data"), 0, 4, true, asked);
    QCOMPARE(asked.kernel(3).size(), std::size_t{4});
  }

  void refusesWhatCannotBe() {
    const auto message = [](double p_switch) -> QString {
      try {
        SwitchingTask(1, 2, 1.0, 8, p_switch);
      } catch (const std::invalid_argument& error) {
        return error.what();
      }
      return "";
    };
    for (const double p : {0.0, -0.1, 0.51, std::numeric_limits<double>::quiet_NaN()})
      QVERIFY(message(p).startsWith("task.p_switch: "));
    QCOMPARE(message(0.5), "");
    QVERIFY_EXCEPTION_THROWN(SwitchingTask(-1, 2, 1.0, 8, 0.1), std::invalid_argument);
  }

  void speed() {
    const SwitchingTask task(1, 2, 1.0, 512, 0.01);
    SequenceBatch batch;
    QBENCHMARK {
      task.generate(Stream(0, "data"), 0, 2000, false, batch);
    }
    QCOMPARE(batch.tokens.size(), std::size_t{2000 * 513});
  }
};

QTEST_APPLESS_MAIN(SwitchingTaskTest)
#include "switching_task_test.moc"
