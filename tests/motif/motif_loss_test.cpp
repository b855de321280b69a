// Targets, and the motif loss with its gradients to M and to k, P, Q, by finite differences of fourth order.
#include "core/motif/motif_loss.h"

#include <QTest>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>

#include "core/motif/coupling.h"
#include "core/motif/soft_census.h"
#include "tests/contract/sentence.h"

using namespace mambarium;

namespace {

constexpr std::size_t n = 8;

std::vector<double> random_matrix(unsigned seed, double deviation) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, deviation);
  std::vector<double> matrix(n * n);
  for (double& entry : matrix) entry = normal(random);
  return matrix;
}

// Of f at the value x, which is put back.
double slope(double& x, double step, const std::function<double()>& f) {
  const double at = x;
  const auto moved = [&](double by) {
    x = at + by;
    const double value = f();
    x = at;
    return value;
  };
  return (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
}

std::vector<MotifLossSettings> all_settings() {
  std::vector<MotifLossSettings> all;
  for (const MotifLossKind kind : {MotifLossKind::sse, MotifLossKind::r_squared})
    for (const CensusShare share : {CensusShare::triples, CensusShare::connected})
      for (const EdgeConvention edges : {EdgeConvention::index, EdgeConvention::causal})
        all.push_back({kind, share, {1e5, 5e-5, edges}});
  return all;
}

double largest(std::span<const double> numbers) {
  double most = 0;
  for (const double number : numbers) most = std::max(most, std::abs(number));
  return most;
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

class MotifLossTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theGradientToTheMatrixIsThatOfFiniteDifferences() {
    for (const char* name : {"021U", "210", "FRP", "MOP", "AVE"})
      for (const MotifLossSettings& settings : all_settings()) {
        const MotifTarget target = motif_target(name);
        std::vector<double> matrix = random_matrix(1, 0.007);
        const std::vector<double> gradient = motif_loss(matrix, n, target, settings).gradient;
        QVERIFY(largest(gradient) > 0);
        for (std::size_t i = 0; i < n * n; ++i) {
          const double expected = slope(matrix[i], 1e-6, [&] { return motif_loss(matrix, n, target, settings).value; });
          QVERIFY2(std::abs(gradient[i] - expected) <= 1e-6 * largest(gradient), name);
        }
      }
  }

  void theGradientToTheFactorsIsThatOfFiniteDifferences() {
    std::mt19937_64 random(2);
    std::normal_distribution<double> normal;
    for (const std::size_t rank : {1, 3})
      for (const MotifLossSettings& settings : all_settings()) {
        const MotifTarget target = motif_target("FRP");
        Coupling coupling = draw_coupling(
            n, rank,
            [&](std::string_view, std::span<double> out) {
              for (double& number : out) number = normal(random);
            },
            0.1, 0.3);
        const auto value = [&] { return motif_loss(coupling_matrix(coupling), n, target, settings).value; };
        const auto gradient =
            coupling_gradient(coupling, motif_loss(coupling_matrix(coupling), n, target, settings).gradient);
        const double p_size = largest(gradient.p), q_size = largest(gradient.q);
        for (std::size_t i = 0; i < n * rank; ++i) {
          QVERIFY(std::abs(gradient.p[i] - slope(coupling.p[i], 1e-5, value)) <= 1e-6 * p_size);
          QVERIFY(std::abs(gradient.q[i] - slope(coupling.q[i], 1e-5, value)) <= 1e-6 * q_size);
        }
        QVERIFY(std::abs(gradient.k - slope(coupling.k, 1e-6, value)) <= 1e-6 * std::abs(gradient.k));
      }
  }

  void sseLooksOnlyAtMotifsWithATarget() {
    const std::vector<double> matrix = random_matrix(3, 0.007);
    const auto counts = SoftCensus(soft_adjacency(matrix, n, {}), n).motifs();
    const MotifLoss loss = motif_loss(matrix, n, motif_target("2"), {});
    const double error = counts[1] / 56 - 0.25;
    QVERIFY(std::abs(loss.value - error * error) <= 1e-15);
    QCOMPARE(loss.fractions[4], counts[4] / 56);
  }

  void rSquaredIsOneMinusTheLossOfItsName() {
    const std::vector<double> matrix = random_matrix(4, 0.007);
    const MotifTarget target = motif_target("AVE");
    const MotifLoss loss = motif_loss(matrix, n, target, {MotifLossKind::r_squared, CensusShare::triples, EdgeRule{}});
    double squares = 0, total = 0;
    const double mean = std::accumulate(target.fractions.begin(), target.fractions.end(), 0.0) / 13;
    for (std::size_t k = 0; k < motif_count; ++k) {
      squares += std::pow(loss.fractions[k] - target.fractions[k], 2);
      total += std::pow(target.fractions[k] - mean, 2);
    }
    QVERIFY(std::abs(loss.value - squares / total) <= 1e-14 * loss.value);
    QVERIFY(std::abs(*loss.r_squared + loss.value - 1) <= 1e-14 * loss.value);
    QVERIFY(std::abs(*motif_loss(matrix, n, target, {}).r_squared - *loss.r_squared) <= 1e-14);
  }

  // Sums of squares about the mean of the published targets: 1 - R^2 is the squared error over them.
  void theTotalSquaresOfTheTargetsAreTheKnownOnes() {
    const std::vector<double> nothing(n * n);  // no edge at all, with theta far above: m = 0
    const MotifLossSettings settings{MotifLossKind::r_squared, CensusShare::triples, {1e5, 1, EdgeConvention::index}};
    const auto total = [&](const MotifTarget& target) {
      double squares = 0;
      for (const double fraction : target.fractions) squares += fraction * fraction;
      return squares / motif_loss(nothing, n, target, settings).value;
    };
    QVERIFY(std::abs(total(motif_target("2")) - 0.05769) < 5e-6);
    QVERIFY(std::abs(total(motif_target("2", 0.4)) - 0.14769) < 5e-6);
    QVERIFY(std::abs(total(motif_target("2", 1)) - 12.0 / 13) < 1e-12);
    QVERIFY(std::abs(total(motif_target("FRP")) - 0.10043) < 5e-6);
    QVERIFY(std::abs(total(motif_target("MOP")) - 0.06794) < 5e-6);
    QVERIFY(std::abs(total(motif_target("AVE")) - 0.03239) < 5e-6);
  }

  void targetsHaveTheirPublishedShares() {
    QCOMPARE(motif_target("FRP").fractions[1], 0.287659);
    QCOMPARE(motif_target("MOP").fractions[11], 0.249035);
    QVERIFY(std::abs(motif_target("AVE").fractions[1] - 0.1438295) < 1e-15);
    QVERIFY(std::abs(motif_target("ave").fractions[10] - 0.065183) < 1e-15);
    QCOMPARE(motif_target("021U").fractions[1], 0.25);
    QCOMPARE(motif_target("Motif-12", 0.4).fractions[11], 0.4);
    QCOMPARE(motif_target("12").name, std::string("Motif-12 (210)"));
    const MotifTarget own = motif_target("0,0.5, 0,0,0,0,0,0,0,0,0,0.5,0");
    QCOMPARE(own.fractions[1] + own.fractions[11], 1.0);
    QCOMPARE(own.name, std::string("own profile"));
  }

  void whatCannotBeATargetIsRefused() {
    const auto refused = [](const std::string& text, double fraction, std::string_view words) {
      const std::string message = refusal([&] { motif_target(text, fraction); });
      return is_one_sentence(message) && mentions(message, words);
    };
    QVERIFY(refused("FRQ", 0.25, "FRP, MOP, AVE"));
    QVERIFY(refused("", 0.25, "1 to 13"));
    QVERIFY(refused("003", 0.25, "not connected"));
    QVERIFY(refused("2", 0, "above 0"));
    QVERIFY(refused("2", 1.1, "at most 1"));
    QVERIFY(refused("2", std::nan(""), "nan"));
    QVERIFY(refused("0.1,0.2", 0.25, "there are 2 numbers"));
    QVERIFY(refused("0,0.5,0,0,0,0,0,0,0,0,0,0.6,0", 0.25, "add up to 1.1"));
    // What these add up to in float64 is 2.0949999999999998.
    QVERIFY(refused("0.081,0.508,0.458,0.153,0.297,0.598,0,0,0,0,0,0,0", 0.25, "add up to 2.095; they"));
    QVERIFY(refused("0,-0.5,0,0,0,0,0,0,0,0,0,0.6,0", 0.25, "-0.5"));
    QVERIFY(refused("0,x,0,0,0,0,0,0,0,0,0,0.6,0", 0.25, "\"x\""));
    QVERIFY(refused("0,nan,0,0,0,0,0,0,0,0,0,0.6,0", 0.25, "nan"));
    QVERIFY(refused("0,0,0,0,0,0,0,0,0,0,0,0,0", 0.25, "all 13 shares"));
  }

  void aTargetWithoutDifferencesHasNoRSquared() {
    const std::vector<double> matrix = random_matrix(5, 0.007);
    MotifTarget even{"even", {}};
    even.fractions.fill(1.0 / 13);
    const MotifLossSettings settings{MotifLossKind::r_squared, CensusShare::triples, {}};
    const std::string message = refusal([&] { motif_loss(matrix, n, even, settings); });
    QVERIFY(is_one_sentence(message) && mentions(message, "R^2"));
    const MotifLoss loss = motif_loss(matrix, n, even, {});
    QVERIFY(!loss.r_squared && loss.value > 0);
  }

  // Nothing is connected, so there is nothing to divide by: no NaN.
  void aMatrixWithoutConnectedTriplesHasAFiniteLoss() {
    const MotifLossSettings settings{MotifLossKind::sse, CensusShare::connected, {1e9, 1, EdgeConvention::index}};
    const MotifLoss loss = motif_loss(std::vector<double>(n * n), n, motif_target("2"), settings);
    QCOMPARE(loss.value, 0.0625);
    QCOMPARE(largest(loss.gradient), 0.0);
  }
};

QTEST_APPLESS_MAIN(MotifLossTest)
#include "motif_loss_test.moc"
