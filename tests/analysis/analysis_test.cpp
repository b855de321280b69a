#include "core/analysis/analysis.h"

#include <torch/torch.h>

#include <QTest>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/analysis/comparison.h"
#include "core/analysis/predictions.h"
#include "core/analysis/probe_sequence.h"
#include "core/estimators/known_task.h"
#include "core/models/parameter.h"
#include "core/random/stream.h"
#include "core/theory/constructions.h"
#include "core/training/trainer.h"

using namespace mambarium;

namespace {

ExperimentConfig config_of(const char* assignments) {
  return config_from_share_string(std::string("mambarium1:") + assignments).config;
}

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// (n_j + beta) / (n + S beta) by going through the whole prefix again: slow, and obviously right.
double add_beta_by_counting(const std::vector<std::int32_t>& tokens, std::int64_t length, std::int64_t order,
                            std::int64_t states, double beta, std::int32_t symbol) {
  if (length < order) return 1.0 / static_cast<double>(states);
  double matches = 0, hits = 0;
  for (std::int64_t end = order; end < length; ++end) {
    bool same = true;
    for (std::int64_t back = 1; back <= order; ++back)
      same = same && tokens[index(end - back)] == tokens[index(length - back)];
    matches += same ? 1 : 0;
    hits += same && tokens[index(end)] == symbol ? 1 : 0;
  }
  return (hits + beta) / (matches + static_cast<double>(states) * beta);
}

}  // namespace

class AnalysisTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void probesBelongToTheTaskAndSeedAlone() {
    const auto one = probe_sequence(config_of("task.order=2"), 3);
    const auto same = probe_sequence(config_of("task.order=2;model.gate=off;model.d_model=16"), 3);
    QCOMPARE(one.tokens, same.tokens);
    QCOMPARE(one.kernel, same.kernel);
    QCOMPARE(one.tokens.size(), std::size_t{129});
    QCOMPARE(one.inputs().size(), std::size_t{128});
    QVERIFY(one.tokens != probe_sequence(config_of("task.order=2"), 4).tokens);
    QVERIFY(one.tokens != probe_sequence(config_of("task.order=2;training.seed=1"), 3).tokens);
    QVERIFY_EXCEPTION_THROWN(probe_sequence(config_of(""), 8), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(probe_sequence(config_of(""), -1), std::invalid_argument);
  }

  void decayFactorsLieBetweenZeroAndOne() {
    const auto config = config_of("model.layers=2;model.headdim=4;task.length=40");
    const auto model = make_model(config);
    const DecayData data = inspect_decay(*model, config, 2, 17);
    QCOMPARE(data.step, std::int64_t{17});
    QCOMPARE(data.tokens.size(), std::size_t{40});
    QCOMPARE(data.decay.shape, (std::vector<std::int64_t>{2, 4, 40}));
    for (const float factor : data.decay.data) QVERIFY(factor > 0 && factor < 1);
    const auto fixed = config_of("model.decay=one;task.length=40");
    const DecayData ones = inspect_decay(*make_model(fixed), fixed, 0, 0);
    for (const float factor : ones.decay.data) QCOMPARE(factor, 1.0f);
  }

  void filtersAreTheTapsOfTheModel() {
    const auto config = config_of("model.conv=x,B;model.d_conv=3");
    const auto model = make_model(config);
    const FilterData data = inspect_filters(*model, 5);
    QCOMPARE(data.layers.size(), std::size_t{1});
    const FilterData::Layer& layer = data.layers[0];
    QCOMPARE(layer.size(), std::size_t{2});
    QCOMPARE(layer[0].name + layer[1].name, std::string("xB"));
    QCOMPARE(layer[0].taps.shape, (std::vector<std::int64_t>{16, 3}));
    QCOMPARE(layer[1].taps.shape, (std::vector<std::int64_t>{8, 3}));
    QCOMPARE(layer[0].bias.shape, (std::vector<std::int64_t>{16}));
    double sum = 0, expected = 0;
    for (const FilterData::Filter& filter : layer)
      for (const float tap : filter.taps.data) sum += static_cast<double>(tap);
    for (const Parameter& parameter : model->parameters())
      if (parameter.name.find("conv") != std::string::npos && parameter.name.find("weight") != std::string::npos)
        expected += parameter.tensor.detach().to(torch::kFloat64).sum().item<double>();
    QVERIFY(std::abs(sum - expected) < 1e-5);
  }

  void predictionsMeetTheirDefinitions_data() {
    QTest::addColumn<QString>("assignments");
    QTest::newRow("order 1") << "task.length=60";
    QTest::newRow("order 3, three states") << "task.order=3;task.states=3;task.length=60;task.beta=0.5";
  }
  void predictionsMeetTheirDefinitions() {
    QFETCH(QString, assignments);
    const auto config = config_of(assignments.toUtf8().constData());
    const auto model = make_model(config);
    const PredictionData data = inspect_prediction(*model, config, 1, 3);
    const auto order = config.integer("task.order"), states = config.integer("task.states");
    const ProbeSequence probe = probe_sequence(config, 1);
    QCOMPARE(data.tokens, std::vector<std::int32_t>(probe.tokens.begin(), probe.tokens.end() - 1));
    QCOMPARE(data.last_target, probe.tokens.back());
    for (std::int64_t t = 0; t < 60; ++t) {
      double sum = 0;
      std::int64_t context = 0;
      for (std::int64_t back = order; t + 1 >= order && back >= 1; --back)
        context = context * states + data.tokens[index(t + 1 - back)];
      for (std::int32_t symbol = 0; symbol < states; ++symbol) {
        const std::size_t at = index(t * states + symbol);
        sum += static_cast<double>(data.model.data[at]);
        const double counted =
            add_beta_by_counting(data.tokens, t + 1, order, states, config.real("task.beta"), symbol);
        QVERIFY(std::abs(static_cast<double>(data.add_beta.data[at]) - counted) < 1e-6);
        const double known = t + 1 < order ? 1.0 / static_cast<double>(states)
                                           : static_cast<double>(probe.kernel[index(context * states + symbol)]);
        QVERIFY(std::abs(static_cast<double>(data.oracle.data[at]) - known) < 1e-6);
      }
      QVERIFY(std::abs(sum - 1) < 1e-5);
    }
  }

  void switchingChainsAreInspected() {
    const auto config = config_of("task.kind=switching;task.p_switch=0.1;task.length=80");
    const auto model = make_model(config);
    const PredictionData data = inspect_prediction(*model, config, 2, 3);
    const ProbeSequence probe = probe_sequence(config, 2);
    const auto switches = std::ranges::count(data.tokens, 2);
    QVERIFY(switches > 0);
    QCOMPARE(data.model.shape, (std::vector<std::int64_t>{80, 3}));
    std::vector<std::int32_t> stretch;
    std::size_t kernel = 0;
    for (std::int64_t t = 0; t < 80; ++t) {
      const std::int32_t token = data.tokens[index(t)];
      if (token == 2) {
        stretch.clear();
        kernel += 4;
      } else {
        stretch.push_back(token);
      }
      for (std::int32_t symbol = 0; symbol < 2; ++symbol) {
        const double counted = add_beta_by_counting(stretch, std::ssize(stretch), 1, 2, 1, symbol);
        QVERIFY(std::abs(static_cast<double>(data.add_beta.data[index(t * 3 + symbol)]) - 0.9 * counted) < 1e-6);
        const double known = token == 2 ? 0.5 : static_cast<double>(probe.kernel[kernel + index(2 * token + symbol)]);
        QVERIFY(std::abs(static_cast<double>(data.oracle.data[index(t * 3 + symbol)]) - 0.9 * known) < 1e-6);
      }
      QVERIFY(std::abs(data.oracle.data[index(t * 3 + 2)] - 0.1F) < 1e-6F);
    }
    QCOMPARE(inspect_decay(*model, config, 2, 3).tokens, data.tokens);
    const Comparison comparison = compare(*model, config, 600);
    const Evaluation evaluation = evaluate(*model, config, 600);
    QVERIFY(std::abs(comparison.model.mean - evaluation.model) < 1e-5);
    QVERIFY(std::abs(comparison.add_beta.mean - evaluation.add_beta) < 1e-9);
    QVERIFY(std::abs(comparison.oracle.mean - evaluation.oracle) < 1e-9);
    QVERIFY(std::abs(comparison.uniform - std::log(3.0)) < 1e-12);
  }

  void everyKindOfQuestionIsAnswered() {
    const auto config = config_of("task.length=20");
    const auto model = make_model(config);
    QCOMPARE(inspect(*model, config, {"decay", 0, std::nullopt}, 4).get<DecayData>().step, std::int64_t{4});
    QCOMPARE(inspect(*model, config, {"filters", 0, std::nullopt}, 4).get<FilterData>().layers.size(), std::size_t{1});
    QCOMPARE(inspect(*model, config, {"prediction", 7, std::nullopt}, 4).get<PredictionData>().order, std::int64_t{1});
    QVERIFY_EXCEPTION_THROWN(inspect(*model, config, {"dreams", 0, std::nullopt}, 4), std::invalid_argument);
  }

  void comparisonsHaveTheMeansOfTheRun() {
    const auto config = config_of("task.length=24");
    const auto model = make_model(config);
    const Comparison comparison = compare(*model, config, 600);
    const Evaluation evaluation = evaluate(*model, config, 600);
    QVERIFY(std::abs(comparison.model.mean - evaluation.model) < 1e-5);
    QVERIFY(std::abs(comparison.add_beta.mean - evaluation.add_beta) < 1e-9);
    QVERIFY(std::abs(comparison.oracle.mean - evaluation.oracle) < 1e-9);
    QVERIFY(std::abs(comparison.uniform - std::log(2.0)) < 1e-12);
    QVERIFY(std::abs(comparison.gap_add_beta.mean - (comparison.model.mean - comparison.add_beta.mean)) < 1e-9);
  }

  // Halves of the test set are independent samples: their difference is of the size that the standard errors say.
  void standardErrorsAreOfTheRightSize() {
    const auto config = config_of("task.length=24");
    const auto model = make_model(config);
    const Comparison half = compare(*model, config, 2000), whole = compare(*model, config, 4000);
    const double other_half = 2 * whole.oracle.mean - half.oracle.mean;
    const double expected = std::sqrt(2.0) * half.oracle.standard_error;
    QVERIFY(std::abs(other_half - half.oracle.mean) < 4 * expected);
    QVERIFY(std::abs(half.oracle.standard_error / whole.oracle.standard_error - std::sqrt(2.0)) < 0.1);
  }

  // Token by token, from the probabilities of model and predictor as panels get them.
  void totalVariationIsHalfTheSumOfTheDifferences() {
    for (const char* assignments : {"task.length=24;task.order=2", "task.length=24;task.states=4",
                                    "task.length=24;task.kind=switching;task.p_switch=0.1"}) {
      const auto config = config_of(assignments);
      const auto model = make_model(config);
      const auto task = make_task(config, Split::test);
      const auto best = task->best_predictor();
      SequenceBatch batch;
      task->generate(Stream(0, "test"), 0, 40, false, batch);
      double sum = 0;
      for (std::int64_t sequence = 0; sequence < 40; ++sequence) {
        const auto inputs = batch.sequence(sequence).first(24);
        const Tensor of_model = predictions(*model, inputs), of_best = predictions(*best, inputs);
        for (std::size_t place = 0; place < of_model.data.size(); ++place)
          sum += std::abs(static_cast<double>(of_model.data[place]) - static_cast<double>(of_best.data[place]));
      }
      const Measured found = compare(*model, config, 40).total_variation;
      QVERIFY(std::abs(found.mean - sum / 2 / 40 / 24) < 1e-6);
      QVERIFY(found.mean > 0.05 && found.standard_error > 0);
    }
  }

  void aConstructionIsNoDistanceFromItsEstimator() {
    const auto config = config_of("task.length=64");
    const auto model = make_construction({"theorem1"}, Engine::torch, Precision::float64);
    QVERIFY(compare(*model, config, 64).total_variation.mean < 1e-12);
  }

  void decayMeansTellSwitchTokensFromOthers() {
    const auto config = config_of("task.length=64;task.kind=switching;task.p_switch=0.1");
    const auto forgets = make_construction({.name = "switching", .p_switch = 0.1}, Engine::torch, Precision::float64);
    const DecayMeans means = decay_means(*forgets, config, 16);
    QVERIFY(means.ordinary > 0.999 && means.ordinary <= 1);
    QVERIFY(means.at_switch < 1e-6);
    const auto plain = config_of("task.length=64;model.layers=2");
    const auto model = make_model(plain);
    const DecayMeans untrained = decay_means(*model, plain, 16);
    QVERIFY(untrained.ordinary > 0 && untrained.ordinary < 1);
    QVERIFY2(std::isnan(untrained.at_switch), "there are no switch tokens");
    const auto counts = config_of("model.decay=one");
    QVERIFY2(std::isnan(decay_means(*make_model(counts), counts, 16).ordinary), "there is nothing to learn");
    const auto attention = config_of("model.kind=transformer");
    QVERIFY2(std::isnan(decay_means(*make_model(attention), attention, 16).ordinary), "there is nothing that decays");
  }
};

QTEST_APPLESS_MAIN(AnalysisTest)
#include "analysis_test.moc"
