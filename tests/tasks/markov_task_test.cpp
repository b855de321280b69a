#include "core/tasks/markov_task.h"

#include <hwy/highway.h>

#include <QTest>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/tasks/dirichlet.h"
#include "statistics.h"

using namespace mambarium;

namespace {

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// One sequence drawn symbol by symbol from Stream and draw_cumulative_row, as markov_task.h documents them.
std::vector<std::int32_t> by_hand(const MarkovTask& task, const Stream& stream, std::uint64_t n) {
  const auto states = task.states();
  std::vector<std::vector<std::int64_t>> rows(index(task.contexts()), std::vector<std::int64_t>(index(states - 1)));
  for (std::size_t row = 0; row < rows.size(); ++row) draw_cumulative_row(stream, n, row, task.beta(), rows[row]);
  std::vector<std::int32_t> tokens;
  for (std::int64_t t = 0; t <= task.length(); ++t) {
    const std::uint32_t word = stream.block(static_cast<std::uint64_t>(t / 4), n)[index(t % 4)];
    if (t < task.order()) {
      tokens.push_back(static_cast<std::int32_t>((std::uint64_t{word} * static_cast<std::uint64_t>(states)) >> 32));
      continue;
    }
    std::int64_t context = 0;
    for (std::int64_t i = t - task.order(); i < t; ++i) context = context * states + tokens[index(i)];
    std::int32_t token = 0;
    for (const std::int64_t cumulative : rows[index(context)]) token += (word >> 1) >= cumulative;
    tokens.push_back(token);
  }
  return tokens;
}

}  // namespace

class MarkovTaskTest : public QObject {
  Q_OBJECT

  void addShapes() {
    QTest::addColumn<int>("order");
    QTest::addColumn<int>("states");
    QTest::addColumn<double>("beta");
    QTest::newRow("binary, order 1") << 1 << 2 << 1.0;
    QTest::newRow("binary, order 4") << 4 << 2 << 1.0;
    QTest::newRow("binary, order 10") << 10 << 2 << 1.0;
    QTest::newRow("a die") << 0 << 6 << 1.0;
    QTest::newRow("three states, order 2") << 2 << 3 << 1.0;
    QTest::newRow("four states, order 3, beta 0.5") << 3 << 4 << 0.5;
    QTest::newRow("eight states, beta 4") << 1 << 8 << 4.0;
    QTest::newRow("37 states, beta 0.1") << 1 << 37 << 0.1;
  }

 private Q_SLOTS:
  void drawsWhatIsDocumented_data() { addShapes(); }
  void drawsWhatIsDocumented() {
    QFETCH(int, order);
    QFETCH(int, states);
    QFETCH(double, beta);
    const MarkovTask task(order, states, beta, 61);
    const Stream stream(5, "data");
    SequenceBatch batch;
    const std::int64_t first = (std::int64_t{1} << 32) - 7;
    task.generate(stream, first, 19, false, batch);
    QVERIFY(batch.kernels.empty());
    for (std::int64_t i = 0; i < batch.batch; ++i) {
      const auto expected = by_hand(task, stream, static_cast<std::uint64_t>(first + i));
      const auto drawn = batch.sequence(i);
      QVERIFY(std::equal(drawn.begin(), drawn.end(), expected.begin(), expected.end()));
    }
  }

  void sameOnEveryInstructionSet_data() { addShapes(); }
  void sameOnEveryInstructionSet() {
    QFETCH(int, order);
    QFETCH(int, states);
    QFETCH(double, beta);
    const MarkovTask task(order, states, beta, 100);
    const Stream stream(1, "data");
    SequenceBatch native, other;
    task.generate(stream, 1000, 33, true, native);
    int instruction_sets = 0;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
      hwy::SetSupportedTargetsForTest(target);
      hwy::GetChosenTarget().Update(target);
      task.generate(stream, 1000, 33, true, other);
      ++instruction_sets;
      QVERIFY2(other.tokens == native.tokens && other.kernels == native.kernels, hwy::TargetName(target));
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
    QVERIFY(instruction_sets >= 1);
  }

  void independentOfBatchAndLength() {
    const Stream stream(2, "data");
    const MarkovTask task(2, 3, 0.7, 50);
    SequenceBatch whole, part;
    task.generate(stream, 10, 40, true, whole);
    for (std::int64_t i = 0; i < 40; ++i) {
      task.generate(stream, 10 + i, 1, true, part);
      QVERIFY(std::ranges::equal(part.sequence(0), whole.sequence(i)));
      QVERIFY(std::ranges::equal(part.kernel(0), whole.kernel(i)));
    }
    MarkovTask(2, 3, 0.7, 20).generate(stream, 10, 40, false, part);
    for (std::int64_t i = 0; i < 40; ++i) {
      QVERIFY(std::ranges::equal(part.sequence(i), whole.sequence(i).first(21)));
    }
  }

  void streamsDiffer() {
    const MarkovTask task(1, 2, 1.0, 64);
    SequenceBatch data, test, seed;
    task.generate(Stream(0, "data"), 0, 8, true, data);
    task.generate(Stream(0, "test"), 0, 8, true, test);
    task.generate(Stream(1, "data"), 0, 8, true, seed);
    QVERIFY(data.tokens != test.tokens && data.kernels != test.kernels);
    QVERIFY(data.tokens != seed.tokens && data.kernels != seed.kernels);
  }

  // Mean, variance and covariance of the entries of Dirichlet(beta) rows, and rows that sum to one.
  void kernelMoments_data() {
    QTest::addColumn<int>("states");
    QTest::addColumn<double>("beta");
    for (const int states : {2, 3, 5}) {
      for (const double beta : {0.02, 0.3, 1.0, 2.5, 40.0}) {
        QTest::addRow("S=%d beta=%g", states, beta) << states << beta;
      }
    }
  }
  void kernelMoments() {
    QFETCH(int, states);
    QFETCH(double, beta);
    const MarkovTask task(1, states, beta, 1);
    SequenceBatch batch;
    task.generate(Stream(3, "kernels"), 0, 20000, true, batch);
    const double total = states * beta;
    const double mean = 1.0 / states;
    const double variance = mean * (1 - mean) / (total + 1);
    const double covariance = -mean * mean / (total + 1);
    const double count = 20000.0 * states;
    std::vector<double> sum(index(states)), squares(index(states));
    double fourth = 0, product = 0, product_square = 0;
    for (std::size_t row = 0; row < batch.kernels.size(); row += index(states)) {
      double row_sum = 0;
      for (std::size_t s = 0; s < index(states); ++s) {
        const double deviation = double{batch.kernels[row + s]} - mean;
        QVERIFY(batch.kernels[row + s] >= 0);
        row_sum += double{batch.kernels[row + s]};
        sum[s] += deviation;
        squares[s] += deviation * deviation;
        fourth += std::pow(deviation, 4) / states;
      }
      QVERIFY(std::abs(row_sum - 1) < 1e-6);
      const double pair = (double{batch.kernels[row]} - mean) * (double{batch.kernels[row + 1]} - mean);
      product += pair;
      product_square += pair * pair;
    }
    const double square_deviation = std::sqrt(fourth / count - variance * variance);
    for (std::size_t s = 0; s < index(states); ++s) {
      QVERIFY(close(sum[s] / count, 0, std::sqrt(variance), count));
      QVERIFY(close(squares[s] / count, variance, square_deviation, count));
    }
    QVERIFY(close(product / count, covariance, std::sqrt(product_square / count - covariance * covariance), count));
  }

  // Dirichlet(1) over two symbols is uniform: the empirical distribution stays within Kolmogorov's 1e-4 bound.
  void binaryRowsAreUniform() {
    SequenceBatch batch;
    MarkovTask(2, 2, 1.0, 1).generate(Stream(4, "kernels"), 0, 10000, true, batch);
    std::vector<float> first;
    for (std::size_t i = 0; i < batch.kernels.size(); i += 2) first.push_back(batch.kernels[i]);
    std::sort(first.begin(), first.end());
    double distance = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      distance = std::max(distance, std::abs(double{first[i]} - (static_cast<double>(i) + 0.5) / 40000));
    }
    QVERIFY(distance < 2.23 / std::sqrt(40000));
  }

  // Weights down to exp(-1e13): a row is one-hot then, never 0/0.
  void tinyAndHugeBeta() {
    SequenceBatch batch;
    MarkovTask(1, 4, 1e-12, 16).generate(Stream(0, "kernels"), 0, 500, true, batch);
    for (std::size_t row = 0; row < batch.kernels.size(); row += 4) {
      QCOMPARE(*std::max_element(&batch.kernels[row], &batch.kernels[row] + 4), 1.0f);
    }
    MarkovTask(1, 4, 1e12, 16).generate(Stream(0, "kernels"), 0, 500, true, batch);
    for (const float probability : batch.kernels) QVERIFY(std::abs(probability - 0.25f) < 1e-5f);
  }

  // Over many visits of each context the symbols come as often as that kernel says; the oldest symbol is the most
  // significant.
  void transitionsFollowTheKernel() {
    const MarkovTask task(2, 3, 1.0, 40000);
    SequenceBatch batch;
    task.generate(Stream(6, "data"), 0, 3, true, batch);
    for (std::int64_t n = 0; n < 3; ++n) {
      const auto tokens = batch.sequence(n);
      std::vector<double> visits(9), counts(27);
      for (std::size_t t = 2; t < tokens.size(); ++t) {
        const std::int64_t context = tokens[t - 2] * 3 + tokens[t - 1];
        ++visits[index(context)];
        ++counts[index(context * 3 + tokens[t])];
      }
      for (std::size_t entry = 0; entry < 27; ++entry) {
        const double p = double{batch.kernel(n)[entry]};
        if (visits[entry / 3] < 100) continue;
        QVERIFY(close(counts[entry] / visits[entry / 3], p, std::sqrt(p * (1 - p)), visits[entry / 3]));
      }
    }
  }

  // Averaged over kernels every position is uniform, the last k as well: none of them is left at zero.
  void everyPositionIsUniform() {
    for (const int order : {1, 2, 4}) {
      for (const int states : {2, 3}) {
        const MarkovTask task(order, states, 1.0, 30);
        SequenceBatch batch;
        task.generate(Stream(7, "data"), 0, 20000, false, batch);
        for (std::size_t t = 0; t <= 30; ++t) {
          std::vector<double> counts(index(states));
          for (std::int64_t n = 0; n < batch.batch; ++n) ++counts[index(batch.sequence(n)[t])];
          const double p = 1.0 / states;
          for (const double count : counts) QVERIFY(close(count / 20000, p, std::sqrt(p * (1 - p)), 20000));
        }
      }
    }
  }

  // The first k tokens are independent of each other and of the kernel.
  void firstTokensAreIndependent() {
    const MarkovTask task(3, 2, 1.0, 4);
    SequenceBatch batch;
    task.generate(Stream(8, "data"), 0, 40000, true, batch);
    std::vector<double> counts(8);
    double kernel_sum = 0;
    for (std::int64_t n = 0; n < batch.batch; ++n) {
      const auto tokens = batch.sequence(n);
      const std::int64_t context = tokens[0] * 4 + tokens[1] * 2 + tokens[2];
      ++counts[index(context)];
      kernel_sum += double{batch.kernel(n)[index(context * 2)]};
    }
    for (const double count : counts) QVERIFY(close(count / 40000, 0.125, std::sqrt(0.125 * 0.875), 40000));
    QVERIFY(close(kernel_sum / 40000, 0.5, std::sqrt(1.0 / 12), 40000));
  }

  void refusesWhatCannotBe() {
    const auto message = [](std::int64_t order, std::int64_t states, double beta, std::int64_t length) -> QString {
      try {
        MarkovTask(order, states, beta, length);
      } catch (const std::invalid_argument& error) {
        return error.what();
      }
      return "";
    };
    QVERIFY(message(-1, 2, 1, 8).contains("task.order: -1"));
    QVERIFY(message(1, 1, 1, 8).contains("task.states: 1"));
    QVERIFY(message(1, 2, 0, 8).contains("task.beta"));
    QVERIFY(message(1, 2, std::numeric_limits<double>::quiet_NaN(), 8).contains("task.beta"));
    QVERIFY(message(1, 2, 1, 0).contains("task.length: 0"));
    QVERIFY(message(22, 2, 1, 8).contains("task.order 22"));
    QVERIFY(message(1000, 1000000, 1, 8).contains("task.states 1000000"));
    QCOMPARE(message(21, 2, 1, 8), "");
    QCOMPARE(message(0, 2, 1, 1), "");
  }

  void largestKernel() {
    const MarkovTask task(21, 2, 1.0, 30);
    SequenceBatch batch;
    task.generate(Stream(0, "data"), 0, 3, false, batch);
    for (std::uint64_t n = 0; n < 3; ++n) {
      QVERIFY(std::ranges::equal(batch.sequence(static_cast<std::int64_t>(n)), by_hand(task, Stream(0, "data"), n)));
    }
  }
};

QTEST_APPLESS_MAIN(MarkovTaskTest)
#include "markov_task_test.moc"
