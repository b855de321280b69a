// Written-down weights against the estimators they are, over all short sequences and some long ones.
#include "core/theory/constructions.h"

#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <random>

#include "core/models/parameter.h"

using namespace mambarium;

namespace {

using Sequences = std::vector<std::vector<std::int32_t>>;

// All sequences of the greatest length, up to `longest`, of which there are at most 60,000: their beginnings are all
// the shorter ones.
Sequences all_short(std::int64_t tokens, std::int64_t longest) {
  constexpr std::int64_t most = 60'000;
  std::int64_t length = 0, count = 1;
  for (; length < longest && count * tokens <= most; ++length) count *= tokens;
  Sequences all;
  for (std::int64_t number = 0; number < count; ++number) {
    auto& sequence = all.emplace_back();
    for (std::int64_t i = 0, rest = number; i < length; ++i, rest /= tokens) {
      sequence.push_back(static_cast<std::int32_t>(rest % tokens));
    }
  }
  return all;
}

Sequences random_long(std::int64_t tokens, double p_last) {
  std::mt19937 generator(5);
  std::uniform_int_distribution<std::int32_t> ordinary(0, static_cast<std::int32_t>(tokens) - 2),
      any(0, static_cast<std::int32_t>(tokens) - 1);
  std::bernoulli_distribution last(p_last);
  Sequences all(100);
  for (auto& sequence : all) {
    for (int i = 0; i < 200; ++i) {
      const bool switches = p_last > 0 && last(generator);
      sequence.push_back(p_last == 0 ? any(generator)
                         : switches  ? static_cast<std::int32_t>(tokens) - 1
                                     : ordinary(generator));
    }
  }
  return all;
}

struct Distance {
  double probability = 0, divergence = 0;  // the largest |dp|, the largest KL(estimator, model)
};

Distance distance(SequenceModel& model, Estimator& estimator, const Sequences& sequences) {
  const torch::NoGradGuard no_gradients;
  const auto length = static_cast<std::int64_t>(sequences.front().size());
  std::vector<std::int64_t> flat;
  for (const auto& sequence : sequences) flat.insert(flat.end(), sequence.begin(), sequence.end());
  const auto tokens = torch::tensor(flat, torch::kInt64).view({-1, length});
  const auto log_p = model.log_probabilities(tokens).to(torch::kFloat64).contiguous();
  const double* found = log_p.data_ptr<double>();
  const auto states = static_cast<std::size_t>(estimator.states());
  std::vector<double> expected(states);
  Distance most;
  for (const auto& sequence : sequences) {
    estimator.reset();
    for (const std::int32_t token : sequence) {
      estimator.observe(token);
      estimator.predict(expected);
      double divergence = 0;
      for (std::size_t s = 0; s < states; ++s, ++found) {
        most.probability = std::max(most.probability, std::abs(std::exp(*found) - expected[s]));
        divergence += expected[s] * (std::log(expected[s]) - *found);
      }
      most.divergence = std::max(most.divergence, divergence);
    }
  }
  return most;
}

struct Distances {
  Distance exact, fast;  // float64 on LibTorch operators; float32 on the kernels that train
};

Distances distances(const ConstructionSettings& settings) {
  const auto estimator = estimator_of(settings);
  const double p_last = settings.name == "switching" ? 0.05 : 0;
  Distances result;
  for (const auto& sequences : {all_short(estimator->states(), 10), random_long(estimator->states(), p_last)}) {
    const auto worse = [&](Distance& of, Engine engine, Precision precision) {
      const auto model = make_construction(settings, engine, precision);
      const Distance here = distance(*model, *estimator, sequences);
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
