// What other implementations of these models have got wrong (docs/known-pitfalls.md).
#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <random>

#include "core/models/mamba2.h"
#include "core/models/mamba2_operators.h"
#include "core/models/operators.h"
#include "tests/models/model_helpers.h"

using namespace mambarium;

namespace {

constexpr std::int64_t lengths[] = {1, 2, 3, 4, 5, 30, 31, 64, 65, 300};

Mamba2Layer layer_of(SequenceModel& model) {
  const auto weights = named(model);
  const auto get = [&](const std::string& name) {
    const auto found = weights.find("layers.0." + name);
    return found == weights.end() ? at::Tensor() : found->second;
  };
  Mamba2Layer layer;
  layer.norm = get("norm.weight"), layer.y_norm = get("y_norm.weight"), layer.mlp_norm = get("mlp_norm.weight");
  layer.in_z = get("in_proj.z.weight"), layer.in_x = get("in_proj.x.weight"), layer.in_B = get("in_proj.B.weight");
  layer.in_C = get("in_proj.C.weight"), layer.in_dt = get("in_proj.dt.weight");
  layer.conv_x = get("conv.x.weight"), layer.conv_x_bias = get("conv.x.bias");
  layer.conv_B = get("conv.B.weight"), layer.conv_B_bias = get("conv.B.bias");
  layer.conv_C = get("conv.C.weight"), layer.conv_C_bias = get("conv.C.bias");
  layer.dt_bias = get("dt_bias"), layer.A_log = get("A_log"), layer.D = get("D");
  layer.out_proj = get("out_proj.weight"), layer.fc1 = get("mlp.fc1.weight");
  layer.fc1_gate = get("mlp.fc1_gate.weight"), layer.fc2 = get("mlp.fc2.weight");
  return layer;
}

Mamba2Options with_window(std::int64_t d_conv) {
  Mamba2Options options;
  options.d_conv = d_conv;
  options.headdim = 8;
  options.skip = true;
  options.states = 3;
  return options;
}

// One block over u as a whole, and in segments with what it carries from one to the next: outputs and state agree.
void compare_segments(Mamba2& model, const at::Tensor& u, const std::vector<std::int64_t>& segments, double tolerance) {
  const auto layer = layer_of(model);
  operators::LayerState whole_state, state;
  const auto whole = operators::block(model.options(), layer, u, &whole_state);
  std::int64_t begin = 0;
  for (const std::int64_t count : segments) {
    const auto piece = operators::block(model.options(), layer, u.narrow(1, begin, count), &state);
    QVERIFY(largest_difference(piece, whole.narrow(1, begin, count)) <= tolerance);
    begin += count;
  }
  QCOMPARE(begin, u.size(1));
  QVERIFY(largest_difference(state.h, whole_state.h) <= tolerance);
  for (const auto& [found, expected] :
       {std::pair{state.past_x, whole_state.past_x}, std::pair{state.past_B, whole_state.past_B},
        std::pair{state.past_C, whole_state.past_C}}) {
    QCOMPARE(found.sizes(), expected.sizes());
    QVERIFY(largest_difference(found, expected) <= tolerance);
  }
}

std::map<std::string, at::Tensor> gradients_of(Mamba2& model, const at::Tensor& tokens, const at::Tensor& targets) {
  for (Parameter& parameter : model.parameters()) parameter.tensor.mutable_grad() = at::Tensor();
  model.loss(tokens, targets).backward();
  std::map<std::string, at::Tensor> gradients;
  for (Parameter& parameter : model.parameters()) gradients[parameter.name] = parameter.tensor.grad().clone();
  return gradients;
}

double largest_of(const std::map<std::string, at::Tensor>& tensors) {
  double largest = 0;
  for (const auto& [name, tensor] : tensors) largest = std::max(largest, tensor.abs().max().item<double>());
  return largest;
}

}  // namespace

class TestKnownPitfalls : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void token_by_token_equals_the_full_pass() {
    for (const Engine engine : {Engine::torch, Engine::fused}) {
      for (const std::int64_t d_conv : {1, 2, 4, 7}) {
        Mamba2 model(with_window(d_conv), engine, Precision::float32);
        enlarge(model, 0.15);
        const torch::NoGradGuard no_gradients;
        for (const std::int64_t length : lengths) {
          const auto tokens = some_tokens(2, length, 3);
          const auto expected = model.log_probabilities(tokens);
          auto state = model.initial_state(2);
          for (std::int64_t t = 0; t < length; ++t) {
            const double off = largest_difference(model.step(tokens.select(1, t), *state), expected.select(1, t));
            QVERIFY2(off < 1e-5, qPrintable(QString("%1 at token %2 of %3").arg(off).arg(t).arg(length)));
          }
        }
      }
    }
  }

  void states_after_stepping_equal_those_of_the_full_pass() {
    for (const std::int64_t d_conv : {1, 2, 4}) {
      Mamba2 model(with_window(d_conv), Engine::torch, Precision::float64);
      enlarge(model);
      const torch::NoGradGuard no_gradients;
      for (const std::int64_t length : lengths) {
        torch::manual_seed(length);
        const auto u = torch::randn({2, length, 8}, torch::kFloat64);
        compare_segments(model, u, std::vector<std::int64_t>(static_cast<std::size_t>(length), 1), 1e-11);
      }
    }
  }

  void segments_of_any_length_carry_their_state() {
    std::mt19937_64 generator(3);
    for (const std::int64_t d_conv : {1, 3, 5}) {
      Mamba2 model(with_window(d_conv), Engine::torch, Precision::float64);
      enlarge(model);
      const torch::NoGradGuard no_gradients;
      for (int repetition = 0; repetition < 8; ++repetition) {
        std::vector<std::int64_t> segments;
        std::int64_t length = 0;
        for (int i = 0; i < 6; ++i) {
          const std::int64_t choices[] = {1, 2, 3, 17, 64, 65, 100};
          segments.push_back(choices[generator() % 7]);
          length += segments.back();
        }
        compare_segments(model, torch::randn({2, length, 8}, torch::kFloat64), segments, 1e-11);
      }
    }
  }

  void a_batch_equals_its_sequences_alone() {
    Mamba2 model(with_window(3), Engine::fused, Precision::float32);
    enlarge(model, 0.15);
    const auto tokens = some_tokens(18, 70, 3), targets = some_tokens(18, 70, 3, 5);
    const auto together = gradients_of(model, tokens, targets);
    std::map<std::string, at::Tensor> sums;
    for (std::int64_t b = 0; b < 18; ++b) {
      const auto alone = gradients_of(model, tokens.narrow(0, b, 1), targets.narrow(0, b, 1));
      for (const auto& [name, gradient] : alone) {
        auto& sum = sums[name];
        sum = sum.defined() ? sum + gradient / 18 : gradient / 18;
      }
      const torch::NoGradGuard no_gradients;
      QVERIFY(largest_difference(model.log_probabilities(tokens.narrow(0, b, 1)),
                                 model.log_probabilities(tokens).narrow(0, b, 1)) < 1e-5);
    }
    const double largest = largest_of(together);
    for (const auto& [name, gradient] : together)
      QVERIFY2(largest_difference(gradient, sums.at(name)) < 1e-5 * largest, name.c_str());
  }

  void a_fresh_model_of_any_size_has_finite_gradients() {
    for (const std::int64_t d_model : {2, 3, 7, 16, 33}) {
      for (const std::int64_t layers : {1, 3, 8}) {
        auto options = Mamba2Options();
        options.d_model = d_model;
        options.layers = layers;
        Mamba2 model(options, Engine::fused, Precision::float32);
        const auto gradients = gradients_of(model, some_tokens(4, 100, 2), some_tokens(4, 100, 2, 1));
        for (const auto& [name, gradient] : gradients) QVERIFY2(gradient.isfinite().all().item<bool>(), name.c_str());
        QVERIFY(largest_of(gradients) > 0);
      }
    }
  }

  // Every input, across five chunks the last of which is not full.
  void gradients_of_the_chunked_scan_agree_with_differences() {
    torch::manual_seed(4);
    const auto draw = [](at::IntArrayRef sizes) { return torch::randn(sizes, torch::kFloat64); };
    std::vector<at::Tensor> inputs = {draw({2, 18, 2, 3}),
                                      torch::rand({2, 18, 2}, torch::kFloat64),
                                      torch::rand({2, 18, 2}, torch::kFloat64),
                                      draw({2, 18, 4}),
                                      draw({2, 18, 4}),
                                      draw({2, 2, 3, 4})};
    inputs[2].index_put_({torch::rand({2, 18, 2}) < 0.1}, 0.0);
    const auto dy = draw({2, 18, 2, 3}), dh = draw({2, 2, 3, 4});
    const auto objective = [&] {
      const auto& [x, dt, a, B, C, h0] = std::tie(inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], inputs[5]);
      const auto result = operators::selective_scan(x, dt, a, B, C, h0, 4);
      return (result.y * dy).sum() + (result.state * dh).sum();
    };
    for (at::Tensor& input : inputs) input.requires_grad_(true);
    objective().backward();
    const torch::NoGradGuard no_gradients;
    for (at::Tensor& input : inputs) {
      const auto gradient = input.grad().reshape({-1});
      for (std::int64_t i = 0; i < gradient.numel(); ++i)
        QVERIFY(std::abs(finite_difference(objective, input, i) - gradient[i].item<double>()) < 1e-7);
    }
  }

  // Every parameter of a model, where the sequence takes three chunks of 64 and the last has 22 tokens.
  void gradients_of_every_parameter_across_chunks() {
    Mamba2Options options = with_window(3);
    options.d_model = 3;
    options.headdim = 2;
    options.d_state = 3;
    Mamba2 model(options, Engine::torch, Precision::float64);
    enlarge(model);
    const auto tokens = some_tokens(1, 150, 3), targets = some_tokens(1, 150, 3, 2);
    const auto gradients = gradients_of(model, tokens, targets);
    const torch::NoGradGuard no_gradients;
    for (Parameter& parameter : model.parameters()) {
      const auto numbers = parameter.tensor.view({-1}), gradient = gradients.at(parameter.name).reshape({-1});
      for (std::int64_t i = 0; i < numbers.numel(); i += 2) {
        constexpr double step = 1e-6;
        const double kept = numbers[i].item<double>();
        numbers[i] = kept + step;
        const double above = model.loss(tokens, targets).item<double>();
        numbers[i] = kept - step;
        const double below = model.loss(tokens, targets).item<double>();
        numbers[i] = kept;
        QVERIFY2(std::abs((above - below) / (2 * step) - gradient[i].item<double>()) < 1e-7, parameter.name.c_str());
      }
    }
  }

  // dt = softplus(dt_bias) on both sides of 20, where others switch the formula.
  void softplus_is_the_same_in_full_pass_and_step() {
    for (const float bias : {-100.0f, -20.0f, -1.0f, 19.99f, 20.0f, 20.01f, 60.0f, 100.0f}) {
      Mamba2Options options = with_window(2);
      options.norm = false;  // it would hide the size of dt
      options.headdim = 0;
      Mamba2 fast(options, Engine::fused, Precision::float32), plain(options, Engine::torch, Precision::float64);
      for (Mamba2* model : {&fast, &plain}) {
        enlarge(*model, 0.15);
        const torch::NoGradGuard no_gradients;
        auto weights = named(*model);
        weights.at("layers.0.dt_bias").fill_(bias);
        weights.at("layers.0.A_log").fill_(-4);
        weights.at("layers.0.in_proj.x.weight").mul_(1e-2);
      }
      const auto tokens = some_tokens(2, 40, 3), targets = some_tokens(2, 40, 3, 1);
      const auto found = gradients_of(fast, tokens, targets), expected = gradients_of(plain, tokens, targets);
      const double largest = largest_of(expected);
      for (const auto& [name, gradient] : expected) {
        QVERIFY2(largest_difference(found.at(name), gradient) <= 1e-5 * largest,
                 qPrintable(QString("%1 at %2").arg(name.c_str()).arg(bias)));
      }
      const torch::NoGradGuard no_gradients;
      const auto log_p = fast.log_probabilities(tokens);
      QVERIFY(largest_difference(log_p, plain.log_probabilities(tokens)) < 1e-5);
      auto state = fast.initial_state(2);
      for (std::int64_t t = 0; t < 40; ++t) {
        QVERIFY(largest_difference(fast.step(tokens.select(1, t), *state), log_p.select(1, t)) < 1e-5);
      }
    }
  }

  void any_length_and_any_chunk() {
    for (const std::int64_t length : {1, 127, 128, 300, 513}) {
      torch::manual_seed(length);
      const auto x = torch::randn({1, length, 2, 3}, torch::kFloat64),
                 B = torch::randn({1, length, 4}, torch::kFloat64);
      const auto C = torch::randn({1, length, 4}, torch::kFloat64), dt = torch::rand({1, length, 2}, torch::kFloat64);
      const auto a = torch::rand({1, length, 2}, torch::kFloat64);
      const auto expected = operators::selective_scan(x, dt, a, B, C, {}, 1);
      for (const std::int64_t chunk : {2, 16, 64, 256, 1024}) {
        const auto found = operators::selective_scan(x, dt, a, B, C, {}, chunk);
        QVERIFY(largest_difference(found.y, expected.y) < 1e-12 &&
                largest_difference(found.state, expected.state) < 1e-12);
      }
    }
  }

  void odd_sizes_and_tokens_that_are_not_contiguous() {
    for (const auto& [d_model, d_state] : {std::pair{2, 9}, std::pair{3, 12}, std::pair{5, 33}, std::pair{7, 100},
                                           std::pair{11, 127}, std::pair{9, 128}}) {
      Mamba2Options options;
      options.d_model = d_model;
      options.d_state = d_state;
      options.expand = 3;
      options.d_conv = 4;
      Mamba2 fast(options, Engine::fused, Precision::float32), exact(options, Engine::torch, Precision::float64);
      enlarge(fast, 0.1);
      enlarge(exact, 0.1);
      const torch::NoGradGuard no_gradients;
      const auto across = some_tokens(66, 9, 2).transpose(0, 1), wide = some_tokens(9, 132, 2).slice(1, 0, 132, 2);
      for (const auto& tokens : {across, wide}) {
        QVERIFY(!tokens.is_contiguous());
        const auto expected = exact.log_probabilities(tokens);
        QVERIFY(largest_difference(fast.log_probabilities(tokens), expected) < 1e-5);
        QVERIFY(largest_difference(fast.loss(tokens, across), exact.loss(tokens, across)) < 1e-5);
      }
    }
  }

  void gradients_flow_through_steps() {
    Mamba2 model(with_window(3), Engine::torch, Precision::float64);
    enlarge(model);
    const auto tokens = some_tokens(2, 12, 3), targets = some_tokens(2, 12, 3, 1);
    const auto expected = gradients_of(model, tokens, targets);
    for (Parameter& parameter : model.parameters()) parameter.tensor.mutable_grad() = at::Tensor();
    auto state = model.initial_state(2);
    at::Tensor loss = torch::zeros({}, torch::kFloat64);
    for (std::int64_t t = 0; t < 12; ++t) {
      loss = loss + torch::nll_loss(model.step(tokens.select(1, t), *state), targets.select(1, t)) / 12;
    }
    loss.backward();
    for (Parameter& parameter : model.parameters()) {
      QVERIFY2(largest_difference(parameter.tensor.grad(), expected.at(parameter.name)) < 1e-12,
               parameter.name.c_str());
    }
  }

  void a_window_longer_than_the_sequence() {
    for (const Engine engine : {Engine::torch, Engine::fused}) {
      Mamba2 model(with_window(9), engine, Precision::float32);
      enlarge(model, 0.15);
      const torch::NoGradGuard no_gradients;
      const auto tokens = some_tokens(2, 30, 3);
      const auto whole = model.log_probabilities(tokens);
      for (const std::int64_t length : {1, 2, 8}) {
        const auto found = model.log_probabilities(tokens.narrow(1, 0, length));
        QVERIFY(largest_difference(found, whole.narrow(1, 0, length)) < 1e-5);
      }
    }
  }

  void decays_of_random_weights_lie_between_zero_and_one() {
    for (const double size : {0.1, 3.0, 10.0}) {
      Mamba2Options options = with_window(4);
      options.layers = 3;
      Mamba2 model(options, Engine::torch, Precision::float32);
      enlarge(model, size);
      const auto tokens = some_tokens(1, 200, 3);
      std::vector<std::int32_t> row;
      for (std::int64_t t = 0; t < 200; ++t) row.push_back(tokens[0][t].item<std::int32_t>());
      const auto decays = model.decay_factors(row);
      QCOMPARE(decays.data.size(), std::size_t{3 * 2 * 200});
      for (std::size_t i = 0; i < decays.data.size(); ++i) {
        const float a = decays.data[i];
        QVERIFY2(a >= 0 && a <= 1, qPrintable(QString("%1 at %2, weights of %3").arg(a).arg(i).arg(size)));
      }
    }
  }

  void a_head_width_that_does_not_fit_names_both_numbers() {
    Mamba2Options options;
    options.headdim = 5;
    try {
      Mamba2(options, Engine::fused, Precision::float32);
      QFAIL("not refused");
    } catch (const std::invalid_argument& error) {
      QCOMPARE(QString(error.what()), QString("model.headdim: 5 does not divide d_inner = 16"));
    }
    options.headdim = 0;
    QCOMPARE(options.head_width(), options.d_inner());
  }
};

QTEST_APPLESS_MAIN(TestKnownPitfalls)
#include "test_known_pitfalls.moc"
