// Written-down weights against the estimators they are, over all short sequences and some long ones.
#include "core/theory/constructions.h"

#include <torch/torch.h>

#include <QTest>
#include <algorithm>
#include <cmath>
#include <set>

#include "core/models/parameter.h"
#include "core/theory/estimator_distance.h"

using namespace mambarium;

namespace {

struct Distances {
  EstimatorDistance exact, fast;  // float64 on LibTorch operators; float32 on the kernels that train
};

Distances distances(const ConstructionSettings& settings) {
  const auto estimator = estimator_of(settings);
  const auto alphabet = estimator->states();
  const auto p_last = settings.name == "switching" ? std::optional(0.05) : std::nullopt;
  Distances result;
  for (const auto& sequences : {every_short_sequence(alphabet), random_long_sequences(alphabet, p_last)}) {
    const auto worse = [&](EstimatorDistance& of, Engine engine, Precision precision) {
      const auto model = make_construction(settings, engine, precision);
      const EstimatorDistance here = distance(*model, *estimator, sequences);
      of.probability = std::max(of.probability, here.probability);
      of.divergence = std::max(of.divergence, here.divergence);
    };
    worse(result.exact, Engine::torch, Precision::float64);
    worse(result.fast, Engine::fused, Precision::float32);
  }
  qInfo("%s S=%ld k=%ld beta=%g epsilon=%g: float64 |dp| %.1e, KL %.1e; float32 |dp| %.1e", settings.name.c_str(),
        static_cast<long>(settings.states), static_cast<long>(settings.order), settings.beta, settings.epsilon,
        result.exact.probability, result.exact.divergence, result.fast.probability);
  return result;
}

QString refusal(const ConstructionSettings& settings) {
  try {
    make_construction(settings, Engine::torch, Precision::float64);
  } catch (const std::invalid_argument& error) {
    return QString::fromStdString(error.what());
  }
  return {};
}

}  // namespace

class ConstructionsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theSequencesAreAllAndRandom() {
    const TokenTable all = every_short_sequence(2), random = random_long_sequences(3, 0.05);
    std::set<std::vector<std::int32_t>> different;
    for (std::int64_t i = 0; i < all.count(); ++i) different.emplace(all.sequence(i).begin(), all.sequence(i).end());
    QCOMPARE(different.size(), std::size_t{1024});
    QCOMPARE(all.length, std::int64_t{10});
    QCOMPARE(every_short_sequence(8).length, std::int64_t{5});
    QCOMPARE(random.count(), std::int64_t{100});
    const auto last = static_cast<double>(std::ranges::count(random.tokens, 2));
    const auto ones = static_cast<double>(std::ranges::count(random.tokens, 1));
    QVERIFY(std::abs(last / 20000 - 0.05) < 3 * std::sqrt(0.05 * 0.95 / 20000));
    QVERIFY(std::abs(ones / 20000 - 0.475) < 3 * std::sqrt(0.475 * 0.525 / 20000));
  }

  // After 0 add-1 says 1/2, 1/2; after 0,0 it says 2/3, 1/3. The uniform estimator's model says 1/2 always.
  void distancesMeetTheirDefinition() {
    const auto model = make_construction({.name = "theorem1"}, Engine::torch, Precision::float64);
    const EstimatorDistance found = distance(*model, *make_uniform(2), {2, {0, 0}});
    QVERIFY(std::abs(found.probability - 1.0 / 6) < 1e-12);
    const double divergence = 0.5 * std::log(0.5 / (2.0 / 3)) + 0.5 * std::log(0.5 / (1.0 / 3));
    QVERIFY(std::abs(found.divergence - divergence) < 1e-12);
    QVERIFY(std::abs(found.mean_divergence - divergence / 2) < 1e-12);
  }

  void theorem1IsAddBeta() {
    for (const std::int64_t states : {2, 3, 5, 8}) {
      for (const double beta : {0.5, 1.0, 2.0}) {
        const auto found = distances({.name = "theorem1", .states = states, .beta = beta});
        QVERIFY(found.exact.probability <= 1e-12);
        QVERIFY(found.fast.probability <= 1e-5);
      }
    }
  }

  void theorem4IsWithinEpsilon() {
    for (const double epsilon : {0.1, 0.01, 1e-4}) {
      for (const double beta : {0.5, 1.0, 2.0}) {
        const auto found = distances({.name = "theorem4", .beta = beta, .epsilon = epsilon});
        QVERIFY(found.exact.divergence <= epsilon);
        QVERIFY(found.exact.probability > 1e-2 * epsilon);  // it is not exact, and the test would see it
        QVERIFY(std::abs(found.fast.probability - found.exact.probability) <= 1e-5);
      }
    }
  }

  void higherOrdersAreAddBeta() {
    const auto check = [](std::int64_t states, std::int64_t order, double beta) {
      const auto found = distances({.name = "higher_order", .states = states, .order = order, .beta = beta});
      QVERIFY(found.exact.probability <= 1e-12);
      QVERIFY(found.fast.probability <= 1e-5);
    };
    for (std::int64_t order = 1; order <= 5; ++order) check(2, order, 1);
    for (const std::int64_t states : {3, 4, 5}) check(states, 2, 0.5);
  }

  void switchingIsTheBayesPredictor() {
    for (const double p_switch : {0.01, 0.2}) {
      const auto found = distances({.name = "switching", .p_switch = p_switch});
      QVERIFY(found.exact.probability <= 3e-7);
      QVERIFY(found.fast.probability <= 1e-5);
    }
  }

  void theyLearnOnLikeAnyModel() {
    const auto model = make_construction({.name = "theorem1"}, Engine::fused, Precision::float32);
    const auto tokens = torch::randint(0, 2, {8, 65}, torch::kInt64);
    model->loss(tokens.narrow(1, 0, 64).contiguous(), tokens.narrow(1, 1, 64).contiguous()).backward();
    for (const Parameter& parameter : model->parameters()) {
      QVERIFY2(torch::isfinite(parameter.tensor.grad()).all().item<bool>(), parameter.name.c_str());
    }
  }

  void whatHasNoConstructionIsSaid() {
    QVERIFY(refusal({.name = "theorem1"}).isEmpty());
    QVERIFY(refusal({.name = "theorem2"}).contains("theorem1, theorem4"));
    QVERIFY(refusal({.name = "theorem1", .order = 2}).contains("higher_order"));
    QVERIFY(refusal({.name = "theorem1", .beta = 0}).contains("beta"));
    QVERIFY(refusal({.name = "theorem4", .states = 3}).contains("2 states"));
    QVERIFY(refusal({.name = "theorem4", .epsilon = 1}).contains("epsilon"));
    QVERIFY(refusal({.name = "higher_order", .states = 3, .order = 3}).contains("order 3"));
    QVERIFY(refusal({.name = "switching", .p_switch = 1}).contains("switch"));
  }
};

QTEST_GUILESS_MAIN(ConstructionsTest)
#include "constructions_test.moc"
