#include <QTest>
#include <cmath>
#include <numeric>

#include "core/random/stream.h"
#include "core/tasks/markov_task.h"
#include "core/tasks/stationary.h"
#include "statistics.h"

using namespace mambarium;
using Kernels = MarkovVariant::Kernels;
using Start = MarkovVariant::Start;

namespace {

std::vector<double> random_kernel(std::int64_t contexts, std::int64_t states) {
  std::vector<double> kernel(static_cast<std::size_t>(contexts * states));
  Stream(3, "kernel of the test").uniform(kernel);
  for (std::size_t row = 0; row < kernel.size(); row += static_cast<std::size_t>(states)) {
    const auto probabilities = std::span(kernel).subspan(row, static_cast<std::size_t>(states));
    const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
    for (double& probability : probabilities) probability /= sum;
  }
  return kernel;
}

// The distribution of contexts one token later.
std::vector<double> moved(const std::vector<double>& distribution, const std::vector<double>& kernel,
                          std::size_t states) {
  std::vector<double> next(distribution.size());
  for (std::size_t context = 0; context < distribution.size(); ++context) {
    for (std::size_t symbol = 0; symbol < states; ++symbol) {
      next[(context * states + symbol) % next.size()] += distribution[context] * kernel[context * states + symbol];
    }
  }
  return next;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

class MarkovVariantsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aStationaryDistributionStays_data() {
    QTest::addColumn<int>("contexts");
    QTest::addColumn<int>("states");
    QTest::newRow("two states") << 2 << 2;
    QTest::newRow("order 6") << 64 << 2;
    QTest::newRow("three states, order 3") << 27 << 3;
  }
  void aStationaryDistributionStays() {
    QFETCH(int, contexts);
    QFETCH(int, states);
    const auto kernel = random_kernel(contexts, states);
    const auto distribution = stationary_distribution(kernel, states);
    QVERIFY(std::abs(std::accumulate(distribution.begin(), distribution.end(), 0.0) - 1) < 1e-14);
    QVERIFY(largest_difference(distribution, moved(distribution, kernel, static_cast<std::size_t>(states))) < 1e-14);
  }

  void aChainThatNeverLeavesHasAStationaryDistribution() {
    const auto stuck = stationary_distribution(std::vector{1.0, 0.0, 0.0, 1.0}, 2);
    QVERIFY(largest_difference(stuck, {0.5, 0.5}) < 1e-12);
    const auto drained = stationary_distribution(std::vector{1.0, 0.0, 0.5, 0.5}, 2);
    QVERIFY(largest_difference(drained, {1.0, 0.0}) < 1e-12);
  }

  void aStationaryStartIsStationary() {
    const std::int64_t sequences = 40'000, order = 2;
    const MarkovTask task(order, 2, 1.0, 8, {.kernels = Kernels::fixed, .start = Start::stationary, .kernel_seed = 4});
    SequenceBatch batch;
    task.generate(Stream(1, "data"), 0, sequences, true, batch);
    const auto first_kernel = batch.kernel(0);
    const auto distribution = stationary_distribution(std::vector<double>(first_kernel.begin(), first_kernel.end()), 2);
    for (std::size_t context = 0; context < distribution.size(); ++context) {
      for (const std::size_t at : {std::size_t{0}, std::size_t{6}}) {
        double count = 0;
        for (std::int64_t i = 0; i < sequences; ++i) {
          const auto tokens = batch.sequence(i);
          count += static_cast<std::size_t>(2 * tokens[at] + tokens[at + 1]) == context;
        }
        const double p = distribution[context];
        QVERIFY(close(count / static_cast<double>(sequences), p, std::sqrt(p * (1 - p)), sequences));
      }
    }
  }

  // A kernel of a sequence's own: the first token leans to where the chain spends its time.
  void everySequenceStartsAsItsOwnKernelSays() {
    const MarkovTask task(1, 3, 0.5, 4, {.start = Start::stationary});
    SequenceBatch batch;
    task.generate(Stream(2, "data"), 7, 20'000, true, batch);
    std::vector<double> excess;
    for (std::int64_t i = 0; i < batch.batch; ++i) {
      const auto kernel = batch.kernel(i);
      const auto distribution = stationary_distribution(std::vector<double>(kernel.begin(), kernel.end()), 3);
      double squares = 0;
      for (const double probability : distribution) squares += probability * probability;
      excess.push_back(distribution[static_cast<std::size_t>(batch.sequence(i)[0])] - squares);
    }
    const MeanAndError mean = mean_and_error(excess);
    QVERIFY2(std::abs(mean.mean) < 4 * mean.standard_error, qPrintable(QString::number(mean.mean)));
  }

  void theRestOfASequenceFollowsFromItsFirstTokens() {
    const MarkovTask uniform(3, 2, 1.0, 50), stationary(3, 2, 1.0, 50, {.start = Start::stationary});
    const Stream stream(9, "data");
    SequenceBatch one, other;
    uniform.generate(stream, 0, 300, true, one);
    stationary.generate(stream, 0, 300, true, other);
    QCOMPARE(one.kernels, other.kernels);
    int same_start = 0;
    for (std::int64_t i = 0; i < one.batch; ++i) {
      const auto a = one.sequence(i), b = other.sequence(i);
      if (!std::equal(a.begin(), a.begin() + 3, b.begin())) continue;
      ++same_start;
      QVERIFY(std::equal(a.begin(), a.end(), b.begin()));
    }
    QVERIFY(same_start > 20);
    QVERIFY(same_start < 300);
  }

  void halvesOfKernels() {
    const Stream stream(5, "data");
    SequenceBatch whole, low, high;
    MarkovTask(2, 2, 1.0, 30).generate(stream, 0, 200, true, whole);
    MarkovTask(2, 2, 1.0, 30, {.kernels = Kernels::low}).generate(stream, 0, 200, true, low);
    MarkovTask(2, 2, 1.0, 30, {.kernels = Kernels::high}).generate(stream, 0, 200, true, high);
    for (std::size_t entry = 1; entry < whole.kernels.size(); entry += 2) {
      QVERIFY(std::abs(low.kernels[entry] - whole.kernels[entry] / 2) < 1e-6f);
      QVERIFY(std::abs(high.kernels[entry] - (1 + whole.kernels[entry]) / 2) < 1e-6f);
    }
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, MarkovTask(1, 3, 1.0, 30, {.kernels = Kernels::low}));
  }

  void aFixedKernelIsTheSameEverywhere() {
    const MarkovTask task(2, 3, 1.0, 30, {.kernels = Kernels::fixed, .kernel_seed = 8});
    SequenceBatch batch, other;
    task.generate(Stream(5, "data"), 0, 4, true, batch);
    task.generate(Stream(6, "test"), 100, 1, true, other);
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto kernel = batch.kernel(i);
      QVERIFY(std::equal(kernel.begin(), kernel.end(), other.kernels.begin(), other.kernels.end()));
    }
    SequenceBatch another;
    MarkovTask(2, 3, 1.0, 30, {.kernels = Kernels::fixed, .kernel_seed = 9})
        .generate(Stream(5, "data"), 0, 1, true, another);
    QVERIFY(another.kernels != other.kernels);
    QVERIFY(batch.sequence(0)[20] >= 0 && batch.sequence(0)[20] < 3);
  }

  void anyBatchAtOnceIsTheSame() {
    const MarkovTask task(2, 2, 1.0, 40, {.start = Start::stationary});
    const Stream stream(5, "data");
    SequenceBatch all, piece;
    task.generate(stream, 0, 33, false, all);
    for (std::int64_t i = 0; i < 33; ++i) {
      task.generate(stream, i, 1, false, piece);
      const auto a = all.sequence(i), b = piece.sequence(0);
      QVERIFY(std::equal(a.begin(), a.end(), b.begin(), b.end()));
    }
  }
};

QTEST_GUILESS_MAIN(MarkovVariantsTest)
#include "markov_variants_test.moc"
