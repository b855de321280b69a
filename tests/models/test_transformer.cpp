// The transformer against loops written from its formulas; causality, stepping, gradients, initial values.
#include <torch/torch.h>

#include <QTest>
#include <cmath>

#include "core/analysis/analysis.h"
#include "core/models/transformer.h"
#include "tests/models/model_helpers.h"
#include "tests/models/plain_transformer.h"

using namespace mambarium;

namespace {

TransformerOptions small(Attention attention, bool convolved = true) {
  TransformerOptions options;
  options.states = 3;
  options.headdim = 4;
  options.layers = 2;
  options.positions = 90;
  options.attention = attention;
  options.d_conv = 3;
  options.conv_Q = options.conv_K = convolved;
  return options;
}

constexpr Attention both[] = {Attention::softmax, Attention::linear};

}  // namespace

class TestTransformer : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void agrees_with_the_formulas() {
    for (const Attention attention : both) {
      for (const bool convolved : {false, true}) {
        const auto options = small(attention, convolved);
        Transformer model(options, Precision::float64);
        enlarge(model);
        const torch::NoGradGuard no_gradients;
        const auto tokens = some_tokens(2, 70, 3);
        const auto found = model.log_probabilities(tokens);
        const PlainTransformer plain(options, named(model));
        for (std::int64_t sequence = 0; sequence < 2; ++sequence) {
          const auto* first = tokens.data_ptr<std::int64_t>() + 70 * sequence;
          const auto expected = plain.log_probabilities({first, first + 70});
          for (std::int64_t t = 0; t < 70; ++t)
            for (std::int64_t s = 0; s < 3; ++s)
              QVERIFY(std::abs(found.index({sequence, t, s}).item<double>() -
                               expected[static_cast<std::size_t>(t)][static_cast<std::size_t>(s)]) < 1e-12);
        }
      }
    }
  }

  void token_by_token_is_the_same_function() {
    for (const Attention attention : both) {
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        const bool exact = precision == Precision::float64;
        Transformer model(small(attention), precision);
        enlarge(model, exact ? 0.3 : 0.15);
        const torch::NoGradGuard no_gradients;
        const auto tokens = some_tokens(3, 90, 3);
        const auto expected = model.log_probabilities(tokens);
        const auto state = model.initial_state(3);
        for (std::int64_t t = 0; t < 90; ++t) {
          const auto before = t == 50 ? state->clone() : nullptr;
          const auto found = model.step(tokens.select(1, t), *state);
          QVERIFY(largest_difference(found, expected.select(1, t)) < (exact ? 1e-12 : 1e-5));
          if (before) QVERIFY(torch::equal(model.step(tokens.select(1, t), *before), found));
        }
        QVERIFY(refusal([&] { model.step(tokens.select(1, 0), *state); }).find("90 learned positions") !=
                std::string::npos);
      }
    }
  }

  void later_tokens_do_not_matter() {
    for (const Attention attention : both) {
      Transformer model(small(attention), Precision::float64);
      enlarge(model);
      const torch::NoGradGuard no_gradients;
      const auto tokens = some_tokens(2, 80, 2);
      const auto expected = model.log_probabilities(tokens);
      for (const std::int64_t from : {1, 17, 64, 65, 79}) {
        auto changed = tokens.clone();
        changed.narrow(1, from, 80 - from).bitwise_xor_(1);
        const auto found = model.log_probabilities(changed);
        QVERIFY(largest_difference(found.narrow(1, 0, from), expected.narrow(1, 0, from)) < 1e-14);
        QVERIFY(largest_difference(found.select(1, from), expected.select(1, from)) > 1e-6);
      }
    }
  }

  void renamed_tokens_are_renamed_predictions() {
    const auto options = small(Attention::softmax);
    Transformer model(options, Precision::float64), renamed(options, Precision::float64);
    enlarge(model);
    enlarge(renamed);
    const torch::NoGradGuard no_gradients;
    const auto new_names = torch::tensor({2, 0, 1}, torch::kInt64);
    for (const char* name : {"embedding.weight", "lm_head.bias"})
      named(renamed).at(name).index_copy_(0, new_names, named(model).at(name));
    const auto tokens = some_tokens(2, 40, 3);
    const auto found = renamed.log_probabilities(new_names.index_select(0, tokens.flatten()).view({2, 40}));
    QVERIFY(largest_difference(found.index_select(-1, new_names), model.log_probabilities(tokens)) < 1e-13);
  }

  void gradients_agree_with_finite_differences() {
    for (const Attention attention : both) {
      auto options = small(attention);
      options.d_model = 4;
      options.headdim = 2;
      Transformer model(options, Precision::float64);
      enlarge(model);
      const auto tokens = some_tokens(2, 9, 3), targets = some_tokens(2, 9, 3, 1);
      QVERIFY(gradient_error(model, tokens, targets, 12) < 1e-7);
    }
  }

  void parameters_and_initial_values() {
    TransformerOptions options;
    options.d_model = 64;
    options.layers = 2;
    options.positions = 100;
    Transformer model(options, Precision::float32);
    const std::int64_t d = 64;
    QCOMPARE(model.parameter_count(), 2 * d + 100 * d + 2 * (12 * d * d + 2 * d) + d + 2);
    const auto weights = named(model);
    for (const auto& [name, deviation] : {std::pair{"positions.weight", 0.02},
                                          {"layers.1.attention.K.weight", 0.02},
                                          {"layers.0.mlp.fc1.weight", 0.02},
                                          {"layers.0.attention.out.weight", 0.01},
                                          {"layers.1.mlp.fc2.weight", 0.01}})
      QVERIFY2(std::abs(weights.at(name).std(false).item<double>() / deviation - 1) < 0.05, name);
    for (const Parameter& parameter : model.parameters()) {
      const bool linear =
          parameter.name.find("attention.") != std::string::npos || parameter.name.find(".mlp.fc") != std::string::npos;
      QVERIFY2(parameter.decayed == linear, parameter.name.c_str());
    }
    auto convolved = options;
    convolved.conv_Q = convolved.conv_V = true;
    convolved.attention = Attention::linear;
    Transformer other(convolved, Precision::float32);
    QCOMPARE(other.parameter_count(), model.parameter_count() + 2 * 2 * 2 * d);
    const auto found = named(other);
    for (const auto& [name, tensor] : weights) QVERIFY2(torch::equal(tensor, found.at(name)), name.c_str());
  }

  void as_deep_as_any_model() {
    TransformerOptions options;
    options.layers = 64;
    Transformer model(options, Precision::float32);
    const auto loss = model.loss(some_tokens(2, 20, 2), some_tokens(2, 20, 2, 1));
    loss.backward();
    QVERIFY(std::abs(loss.item<double>() - std::log(2.0)) < 0.1);
  }

  void a_configuration_describes_it() {
    auto config = config_from_share_string(
                      "mambarium1:model.kind=transformer;model.d_model=12;model.headdim=4;model.conv_qkv=K,V")
                      .config;
    QVERIFY(config.validate().empty());
    for (const Engine engine : {Engine::fused, Engine::torch}) {
      const auto model = make_model(config, engine);
      const auto tokens = some_tokens(1, 128, 2);
      QCOMPARE(model->log_probabilities(tokens).sizes(), (at::IntArrayRef{1, 128, 2}));
      const std::string said = refusal([&] { model->log_probabilities(some_tokens(1, 129, 2)); });
      QVERIFY2(said.find("129 tokens") != std::string::npos && said.find("task.length") != std::string::npos,
               said.c_str());
      const FilterData filters = inspect_filters(*model, 0);
      QCOMPARE(filters.layers.at(0).size(), std::size_t{2});
      QCOMPARE(filters.layers[0][1].name, std::string("V"));
      QCOMPARE(filters.layers[0][0].taps.shape, (std::vector<std::int64_t>{12, 2}));
      QCOMPARE(filters.layers[0][0].bias.shape, std::vector<std::int64_t>{0});
      QVERIFY(refusal([&] { inspect_decay(*model, config, 0, 0); }).find("no decay factors") != std::string::npos);
      const PredictionData prediction = inspect_prediction(*model, config, 0, 0);
      QCOMPARE(prediction.model.shape, (std::vector<std::int64_t>{128, 2}));
    }
    QCOMPARE(engine_of(config, Engine::fused), Engine::torch);
    QVERIFY(!config.set_from_string("model.headdim", "5"));
    QCOMPARE(config.validate().at(0).where, std::string("model.headdim"));
    QVERIFY(!config.set_from_string("model.headdim", "4"));
    QVERIFY(!config.set_from_string("run.device", "cuda"));
    QCOMPARE(config.validate().at(0).where, std::string("run.device"));
  }

  void the_read_out_may_be_l1() {
    auto options = small(Attention::softmax);
    options.readout = Readout::l1;
    Transformer model(options, Precision::float64);
    enlarge(model);
    QVERIFY((model.log_probabilities(some_tokens(2, 20, 3)).exp().sum(-1) - 1).abs().max().item<double>() < 1e-12);
  }
};

QTEST_APPLESS_MAIN(TestTransformer)
#include "test_transformer.moc"
