// The models on plain operators: shapes of parameters, initial values, causality, stepping, independence of the chunk.
#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <limits>

#include "core/models/mamba2.h"
#include "core/models/operators.h"
#include "core/models/whole_model_plan.h"
#include "tests/models/model_helpers.h"

using namespace mambarium;

namespace {

Mamba2Options zero_options(std::int64_t expand, std::int64_t width) {
  Mamba2Options options;
  options.d_model = options.d_state = width;
  options.expand = expand;
  options.activation = Activation::none;
  options.gate = options.norm = false;
  options.mlp = Mlp::none;
  return options;
}

// In float64 with large weights the two agree to rounding; in float32 to 1e-5 with weights of a trained model's size.
void compare_step_with_full_pass(const Mamba2Options& options, Precision precision) {
  const bool exact = precision == Precision::float64;
  Mamba2 model(options, Engine::torch, precision);
  enlarge(model, exact ? 0.3 : 0.15);
  const torch::NoGradGuard no_gradients;
  for (const std::int64_t length : {1, 2, 3, 31, 64, 300}) {
    const auto tokens = some_tokens(3, length, options.states);
    const auto expected = model.log_probabilities(tokens);
    auto state = model.initial_state(3);
    for (std::int64_t t = 0; t < length; ++t) {
      const auto before = t == length / 2 ? state->clone() : nullptr;
      const auto found = model.step(tokens.select(1, t), *state);
      QVERIFY((found - expected.select(1, t)).abs().max().item<double>() < (exact ? 1e-11 : 1e-5));
      if (before) {
        QVERIFY(torch::equal(model.step(tokens.select(1, t), *before), found));
      }
    }
  }
}

}  // namespace

class TestMamba2 : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void parameter_counts() {
    const auto count = [](const Mamba2Options& options) {
      return Mamba2(options, Engine::torch, Precision::float32).parameter_count();
    };
    const Mamba2Options full;
    QCOMPARE(count(full), 1458);
    auto options = full;
    options.conv_x = options.conv_B = options.conv_C = false;
    QCOMPARE(count(options), 1458 - 32 * 3);
    options = full;
    options.d_conv = 3;
    QCOMPARE(count(options), 1490);
    options = full;
    options.skip = true;
    QCOMPARE(count(options), 1459);
    options = full;
    options.headdim = 4;
    QCOMPARE(count(options), 1458 + 3 * 8 + 2 * 3);
    // The table of spec 8 keeps unused z rows: e d d fewer here.
    QCOMPARE(count(zero_options(1, 8)), 434 - 8 * 8);
    QCOMPARE(count(zero_options(2, 8)), 650 - 16 * 8);
  }

  void parts_leave_the_other_weights_alone() {
    Mamba2Options full;
    full.skip = true;
    full.layers = 2;
    Mamba2 whole(full, Engine::torch, Precision::float32);
    const auto expected = named(whole);
    std::vector<std::function<void(Mamba2Options&)>> switches = {
        [](Mamba2Options& o) { o.gate = false; },
        [](Mamba2Options& o) { o.conv_x = false; },
        [](Mamba2Options& o) { o.conv_B = false; },
        [](Mamba2Options& o) { o.conv_C = false; },
        [](Mamba2Options& o) { o.norm = false; },
        [](Mamba2Options& o) { o.mlp = Mlp::none; },
        [](Mamba2Options& o) { o.mlp = Mlp::plain; },
        [](Mamba2Options& o) { o.learned_decay = false; },
        [](Mamba2Options& o) { o.skip = false; },
        [](Mamba2Options& o) { o.readout = Readout::l1; },
        [](Mamba2Options& o) { o.activation = Activation::none; },
    };
    for (const auto& change : switches) {
      auto options = full;
      change(options);
      Mamba2 model(options, Engine::torch, Precision::float32);
      const auto found = named(model);
      QVERIFY(found.size() <= expected.size());
      for (const auto& [name, tensor] : found) {
        QVERIFY2(expected.contains(name), name.c_str());
        QVERIFY2(torch::equal(tensor, expected.at(name)), name.c_str());
      }
    }
    auto other = full;
    other.seed = 1;
    Mamba2 differently(other, Engine::torch, Precision::float32);
    QVERIFY(
        !torch::equal(named(differently).at("layers.0.in_proj.x.weight"), expected.at("layers.0.in_proj.x.weight")));
    QVERIFY(!torch::equal(expected.at("layers.1.in_proj.x.weight"), expected.at("layers.0.in_proj.x.weight")));
  }

  void a_filter_of_all_channels_is_equal_filters_of_each() {
    for (const Filters filters : {Filters::shared, Filters::fixed}) {
      Mamba2Options options;
      options.d_conv = 3;
      Mamba2 per_channel(options, Engine::torch, Precision::float64);
      options.filters = filters;
      Mamba2 model(options, Engine::torch, Precision::float64);
      enlarge(model);
      const torch::NoGradGuard no_gradients;
      const auto weights = named(model);
      for (const auto& [name, tensor] : named(per_channel)) {
        const auto own = weights.find(name);
        const bool is_bias = name.ends_with(".bias");
        if (filters == Filters::fixed && name.find(".conv.") != std::string::npos) {
          QVERIFY2(own == weights.end(), name.c_str());
          const auto taps = torch::tensor({1.0, 2.0, 4.0}, torch::kFloat64);
          tensor.copy_(is_bias ? torch::ones({1}, torch::kFloat64) : taps);
        } else {
          tensor.copy_(own->second);
        }
      }
      const std::int64_t segments = 3, taps_and_bias = 4;
      QCOMPARE(model.parameter_count(), per_channel.parameter_count() - (16 + 8 + 8) * taps_and_bias +
                                            (filters == Filters::shared ? segments * taps_and_bias : 0));
      const auto tokens = some_tokens(2, 50, 2);
      const auto difference = model.log_probabilities(tokens) - per_channel.log_probabilities(tokens);
      QVERIFY(difference.abs().max().item<double>() < 1e-13);
      const auto taps = model.filters()[0][0].taps;
      QCOMPARE(taps.shape, (std::vector<std::int64_t>{1, 3}));
      if (filters == Filters::fixed) QCOMPARE(taps.data, (std::vector<float>{1, 2, 4}));
      QVERIFY_EXCEPTION_THROWN(model.whole_model_plan(1, 8), std::invalid_argument);
    }
  }

  void initial_values() {
    Mamba2Options options;
    options.d_model = 32;
    options.d_state = 64;
    options.headdim = 1;
    options.layers = 2;
    options.skip = true;
    Mamba2 model(options, Engine::torch, Precision::float64);
    const auto weights = named(model);
    const auto deviation = [&](const std::string& name) { return weights.at(name).std(false).item<double>(); };
    QVERIFY(std::abs(deviation("layers.0.in_proj.B.weight") - 0.02) < 0.02 * 0.06);
    QVERIFY(std::abs(deviation("layers.1.mlp.fc1_gate.weight") - 0.02) < 0.02 * 0.06);
    const auto uniform_within = [&](const std::string& name, double bound) {
      const auto& tensor = weights.at(name);
      const double largest = tensor.abs().max().item<double>();
      QVERIFY2(largest <= bound * (1 + 1e-6) && largest > 0.9 * bound, name.c_str());
      QVERIFY2(std::abs(deviation(name) - bound / std::sqrt(3.0)) < 0.12 * bound, name.c_str());
    };
    uniform_within("layers.0.out_proj.weight", 1 / std::sqrt(64.0) / 2);
    uniform_within("layers.1.mlp.fc2.weight", 1 / std::sqrt(128.0) / 2);
    uniform_within("layers.0.conv.x.weight", 1 / std::sqrt(2.0));
    uniform_within("layers.0.conv.B.bias", 1 / std::sqrt(2.0));
    for (const char* name : {"layers.0.norm.weight", "layers.1.y_norm.weight", "layers.0.D", "final_norm.weight"}) {
      QVERIFY2((weights.at(name) == 1).all().item<bool>(), name);
    }
    const auto dt = torch::softplus(weights.at("layers.0.dt_bias"));
    QVERIFY(dt.min().item<double>() >= 1e-3 * (1 - 1e-6) && dt.max().item<double>() <= 1e-1 * (1 + 1e-6));
    QVERIFY(std::abs(dt.log().mean().item<double>() - std::log(1e-2)) < 0.5);
    const auto A = torch::exp(weights.at("layers.0.A_log"));
    QVERIFY(A.min().item<double>() >= 1 - 1e-6 && A.max().item<double>() <= 16 + 1e-5);
    QVERIFY(std::abs(A.mean().item<double>() - 8.5) < 2);

    Mamba2 narrow(options, Engine::torch, Precision::float32);
    for (const auto& [name, tensor] : named(narrow)) {
      QVERIFY2(torch::equal(tensor.to(torch::kFloat64), weights.at(name)), name.c_str());
    }
  }

  void weight_decay_only_on_linear_weights() {
    Mamba2Options options;
    options.skip = true;
    Mamba2 model(options, Engine::torch, Precision::float32);
    for (const Parameter& parameter : model.parameters()) {
      const bool linear = parameter.name == "lm_head.weight" || parameter.name.find("in_proj") != std::string::npos ||
                          parameter.name.find("out_proj") != std::string::npos ||
                          parameter.name.find(".mlp.fc") != std::string::npos;
      QVERIFY2(parameter.decayed == linear, parameter.name.c_str());
      QVERIFY(parameter.tensor.is_leaf() && parameter.tensor.requires_grad());
    }
  }

  void the_scan_does_not_depend_on_the_chunk() {
    for (const std::int64_t length : {1, 2, 3, 31, 64, 65, 130}) {
      const auto options = torch::TensorOptions().dtype(torch::kFloat64);
      torch::manual_seed(length);
      const auto x = torch::randn({2, length, 3, 4}, options), B = torch::randn({2, length, 5}, options);
      const auto C = torch::randn({2, length, 5}, options), h0 = torch::randn({2, 3, 4, 5}, options);
      const auto dt = torch::rand({2, length, 3}, options);
      auto a = torch::rand({2, length, 3}, options);
      a.index_put_({torch::rand({2, length, 3}) < 0.1}, 0.0);
      a.index_put_({torch::rand({2, length, 3}) < 0.1}, 1e-30);
      auto h = h0;
      std::vector<at::Tensor> rows;
      for (std::int64_t t = 0; t < length; ++t) {
        const auto added =
            (x.select(1, t) * dt.select(1, t).unsqueeze(-1)).unsqueeze(-1) * B.select(1, t).unsqueeze(1).unsqueeze(1);
        h = a.select(1, t).unsqueeze(-1).unsqueeze(-1) * h + added;
        rows.push_back((h * C.select(1, t).unsqueeze(1).unsqueeze(1)).sum(-1));
      }
      const auto expected = torch::stack(rows, 1);
      for (const std::int64_t chunk : {1, 4, 32, 64, 256}) {
        const auto found = operators::selective_scan(x, dt, a, B, C, h0, chunk);
        QVERIFY((found.y - expected).abs().max().item<double>() < 1e-12);
        QVERIFY((found.state - h).abs().max().item<double>() < 1e-12);
      }
    }
  }

  void token_by_token_is_the_same_function() {
    for (const auto& [headdim, conv_C, skip] : {std::tuple{0, true, false}, std::tuple{4, false, true}}) {
      Mamba2Options options;
      options.headdim = headdim;
      options.conv_C = conv_C;
      options.skip = skip;
      options.d_conv = 4;
      options.layers = 2;
      options.states = 3;
      options.d_state = 5;
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        compare_step_with_full_pass(options, precision);
      }
    }
  }

  void later_tokens_do_not_matter() {
    Mamba2Options options;
    options.layers = 2;
    Mamba2 model(options, Engine::torch, Precision::float32);
    enlarge(model);
    const torch::NoGradGuard no_gradients;
    const auto tokens = some_tokens(2, 150, 2);
    const auto expected = model.log_probabilities(tokens);
    for (const std::int64_t from : {1, 17, 64, 65, 149}) {
      auto changed = tokens.clone();
      changed.narrow(1, from, 150 - from).bitwise_xor_(1);
      const auto found = model.log_probabilities(changed);
      QVERIFY(torch::equal(found.narrow(1, 0, from), expected.narrow(1, 0, from)));
      QVERIFY(!torch::equal(found.select(1, from), expected.select(1, from)));
    }
  }

  void decay_factors_and_filters() {
    Mamba2Options options;
    options.layers = 3;
    options.headdim = 8;
    options.conv_B = false;
    Mamba2 model(options, Engine::torch, Precision::float32);
    enlarge(model);
    const std::vector<std::int32_t> tokens = {0, 1, 1, 0, 1, 0, 0};
    const auto decay = model.decay_factors(tokens);
    QCOMPARE(decay.shape, (std::vector<std::int64_t>{3, 2, 7}));
    for (const float factor : decay.data) {
      QVERIFY(factor >= 0 && factor <= 1);
    }
    QVERIFY(decay.data[0] != decay.data[1]);
    const auto filters = model.filters();
    QCOMPARE(filters.size(), std::size_t{3});
    QCOMPARE(filters[0].size(), std::size_t{2});
    QCOMPARE(filters[0][0].taps.shape, (std::vector<std::int64_t>{16, 2}));
    QCOMPARE(filters[0][1].name, std::string("C"));
    QCOMPARE(filters[0][1].bias.shape, (std::vector<std::int64_t>{8}));
    QCOMPARE(filters[2][0].taps.data[3], named(model).at("layers.2.conv.x.weight").index({1, 1}).item<float>());
    options.learned_decay = false;
    Mamba2 lasting(options, Engine::torch, Precision::float32);
    for (const float factor : lasting.decay_factors(tokens).data) {
      QCOMPARE(factor, 1.0f);
    }
  }

  void read_outs_are_distributions() {
    for (const Readout readout : {Readout::softmax, Readout::l1}) {
      Mamba2Options options;
      options.readout = readout;
      options.states = 5;
      Mamba2 model(options, Engine::torch, Precision::float64);
      enlarge(model);
      const auto tokens = some_tokens(2, 20, 5), targets = some_tokens(2, 20, 5, 1);
      const auto log_p = model.log_probabilities(tokens);
      QCOMPARE(log_p.sizes(), (at::IntArrayRef{2, 20, 5}));
      QVERIFY((log_p.exp().sum(-1) - 1).abs().max().item<double>() < 1e-12);
      const auto loss = model.loss(tokens, targets).item<double>();
      QVERIFY(std::abs(loss + log_p.gather(-1, targets.unsqueeze(-1)).mean().item<double>()) < 1e-12);
    }
  }

  void gradients_agree_with_finite_differences() {
    for (const bool zero : {false, true}) {
      Mamba2Options options = zero ? zero_options(1, 4) : Mamba2Options{};
      options.d_model = 4;
      options.d_state = 3;
      options.headdim = 2;
      options.d_conv = 3;
      options.states = 3;
      options.skip = !zero;
      options.readout = zero ? Readout::l1 : Readout::softmax;
      options.layers = 2;
      Mamba2 model(options, Engine::torch, Precision::float64);
      enlarge(model);
      const auto tokens = some_tokens(2, 11, 3), targets = some_tokens(2, 11, 3, 1);
      QVERIFY(gradient_error(model, tokens, targets, std::numeric_limits<std::int64_t>::max()) < 1e-7);
    }
  }

  void bad_input_is_named() {
    Mamba2 model(Mamba2Options{}, Engine::torch, Precision::float32);
    const auto message = [&](const at::Tensor& tokens) {
      try {
        model.log_probabilities(tokens);
      } catch (const std::invalid_argument& error) {
        return std::string(error.what());
      }
      return std::string();
    };
    QVERIFY(message(some_tokens(1, 50, 3)).find("outside 0 to 1") != std::string::npos);
    QVERIFY(message(torch::zeros({4})).find("int64") != std::string::npos);
    Mamba2Options options;
    options.headdim = 5;
    QVERIFY_EXCEPTION_THROWN(Mamba2(options, Engine::torch, Precision::float32), std::invalid_argument);
    auto state = model.initial_state(2);
    QVERIFY_EXCEPTION_THROWN(model.step(torch::zeros({3}, torch::kInt64), *state), std::invalid_argument);
  }
};

QTEST_APPLESS_MAIN(TestMamba2)
#include "test_mamba2.moc"
