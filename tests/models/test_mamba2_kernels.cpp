// The fused engine against the torch engine in float64: log-probabilities, loss and every gradient, for every
// combination of parts, on the fused path and on the one that leaves matrix products to BLAS.
#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <functional>
#include <random>

#include "core/kernels/simd.h"
#include "core/models/mamba2.h"
#include "core/models/mamba2_kernels.h"
#include "tests/models/model_helpers.h"

using namespace mambarium;

namespace {

double magnitude(const at::Tensor& tensor) {
  return tensor.abs().max().item<double>();
}

// Relative to the largest number of the tensor, or to `floor`.
double relative_difference(const at::Tensor& found, const at::Tensor& expected, double floor) {
  const double difference = magnitude(found.to(torch::kFloat64) - expected);
  return std::isnan(difference) ? HUGE_VAL : difference / std::max(magnitude(expected), floor);
}

// Too few sequences to share vectors, and enough of them to fill some and leave lanes of the last one empty.
constexpr std::int64_t few_and_many[] = {3, 11};

std::string description(const Mamba2Options& o) {
  std::ostringstream text;
  text << "S=" << o.states << " d=" << o.d_model << " N=" << o.d_state << " e=" << o.expand << " headdim=" << o.headdim
       << " L=" << o.layers << " w=" << o.d_conv << " conv=" << o.conv_x << o.conv_B << o.conv_C
       << " filters=" << static_cast<int>(o.filters) << " act=" << static_cast<int>(o.activation) << " gate=" << o.gate
       << " decay=" << o.learned_decay << " norm=" << o.norm << " skip=" << o.skip << " mlp=" << static_cast<int>(o.mlp)
       << " l1=" << (o.readout == Readout::l1);
  return text.str();
}

// Log-probabilities, loss and gradients of a model, by name.
std::map<std::string, at::Tensor> everything(SequenceModel& model, const at::Tensor& tokens,
                                             const at::Tensor& targets) {
  std::map<std::string, at::Tensor> results;
  results["log p"] = model.log_probabilities(tokens).detach();
  const auto loss = model.loss(tokens, targets);
  results["loss"] = loss.detach();
  (loss * 3).backward();
  for (const auto& [name, tensor] : named(model)) {
    results[name] = tensor.grad().defined() ? tensor.grad() : torch::full_like(tensor, NAN);
  }
  return results;
}

// Whether everything is within `tolerance` of float64, relative to the largest number of its tensor. A norm makes some
// gradients vanish (a single state only scales y): they are measured against a thousandth of the largest gradient. Some
// points are worse conditioned than that (a kink of ReLU, a sum that cancels): there the bounds are what rounding the
// weights does in float64, and ten times what LibTorch's own operators are off in float32, at most. What is off by less
// than four units in the last place of the largest gradient is rounding: a sum over all tokens that cancels holds no
// more digits.
bool agrees(const Mamba2Options& options, std::int64_t batch, std::int64_t length, double tolerance = 1e-5,
            double* largest = nullptr) {
  const auto tokens = some_tokens(batch, length, options.states),
             targets = some_tokens(batch, length, options.states, 7);
  const auto exact_at = [&](double change, double phase = 0) {
    Mamba2 model(options, Engine::torch, Precision::float64);
    enlarge(model);
    if (change != 0) {
      const torch::NoGradGuard no_gradients;
      for (Parameter& parameter : model.parameters()) {
        const auto steps = torch::arange(parameter.tensor.numel(), torch::kFloat64).reshape(parameter.tensor.sizes());
        parameter.tensor.mul_(1 + change * torch::cos(steps * (2.3 + phase)));
      }
    }
    return everything(model, tokens, targets);
  };
  Mamba2 fast(options, Engine::fused, Precision::float32), plain(options, Engine::torch, Precision::float32);
  enlarge(fast);
  enlarge(plain);
  const auto rounded = everything(plain, tokens, targets);
  const auto expected = exact_at(0), above = exact_at(5e-7), below = exact_at(-5e-7);
  double largest_gradient = 0;
  for (const auto& [name, exact] : expected) {
    if (name != "log p" && name != "loss") {
      largest_gradient = std::max(largest_gradient, magnitude(exact));
    }
  }
  const auto off = [&](const at::Tensor& result, const at::Tensor& exact) {
    return relative_difference(result, exact, 1e-3 * largest_gradient);
  };
  const auto worst = [&](const std::map<std::string, at::Tensor>& results) {
    double most = 0;
    for (const auto& [name, result] : results) {
      most = std::max(most, off(result, expected.at(name)));
    }
    return most;
  };
  double bound = std::max({tolerance, 2 * worst(above), 2 * worst(below), 10 * worst(rounded)});
  // Near the kink of the L1 read-out a gradient may change by a hundredth with the last bit of a logit; two roundings
  // alone do not show by how much.
  for (const double phase : {0.7, 1.1, 1.9, 2.9}) {
    if (options.readout != Readout::l1) break;
    bound = std::max({bound, 2 * worst(exact_at(5e-7, phase)), 2 * worst(exact_at(-5e-7, phase))});
  }
  // One rounding of a sum that cancels may be lucky. Some more, at weights a little beside these.
  const auto worst_rounding = [&](const std::string& name) {
    double most = 0;
    for (const double phase : {0.3, 0.9, 1.7, 2.5}) {
      std::map<std::string, at::Tensor> results[2];
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        Mamba2 model(options, Engine::torch, precision);
        enlarge(model);
        const torch::NoGradGuard no_gradients;
        for (Parameter& parameter : model.parameters()) {
          const auto steps = torch::arange(parameter.tensor.numel(), torch::kFloat64).reshape(parameter.tensor.sizes());
          const auto moved = parameter.tensor.to(torch::kFloat64) * (1 + 1e-3 * torch::cos(steps * (2.3 + phase)));
          parameter.tensor.copy_(moved.to(torch::kFloat32));
        }
        const torch::AutoGradMode gradients(true);
        results[precision == Precision::float64] = everything(model, tokens, targets);
      }
      most = std::max(most, off(results[0].at(name), results[1].at(name)));
    }
    return most;
  };
  bool good = true;
  for (const auto& [name, found] : everything(fast, tokens, targets)) {
    const double difference = off(found, expected.at(name));
    if (largest != nullptr) {
      *largest = std::max(*largest, difference);
    }
    const bool is_gradient = name != "log p" && name != "loss";
    constexpr double units = 4 * 5.96e-8;
    const bool is_rounding =
        is_gradient && magnitude(found.to(torch::kFloat64) - expected.at(name)) <= units * largest_gradient;
    if (!(difference <= bound) && !is_rounding && !(difference <= 10 * worst_rounding(name))) {
      qWarning("%s: %s off by %.3g (bound %.3g)", description(options).c_str(), name.c_str(), difference, bound);
      good = false;
    }
  }
  return good;
}

}  // namespace

class TestMamba2Kernels : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void cleanup() { kernels::use_simd_target(""); }

  void the_papers_model() {
    double largest = 0;
    QVERIFY(agrees(Mamba2Options{}, 8, 512, 1e-5, &largest));
    qInfo("largest relative difference: %.2g", largest);
    QVERIFY(largest <= 1e-5);
  }

  void every_part_on_its_own() {
    const std::vector<std::function<void(Mamba2Options&)>> changes = {
        [](auto& o) { o.conv_x = false; },
        [](auto& o) { o.conv_B = false; },
        [](auto& o) { o.conv_C = false; },
        [](auto& o) { o.conv_x = o.conv_B = o.conv_C = false; },
        [](auto& o) { o.activation = Activation::relu; },
        [](auto& o) { o.activation = Activation::none; },
        [](auto& o) { o.gate = false; },
        [](auto& o) { o.learned_decay = false; },
        [](auto& o) { o.norm = false; },
        [](auto& o) { o.skip = true; },
        [](auto& o) { o.mlp = Mlp::plain; },
        [](auto& o) { o.mlp = Mlp::none; },
        [](auto& o) { o.readout = Readout::l1; },
        [](auto& o) { o.layers = 3; },
        [](auto& o) { o.headdim = 4; },
        [](auto& o) { o.filters = Filters::shared; },
        [](auto& o) { o.filters = Filters::fixed; },
        [](auto& o) {
          o.filters = Filters::shared;
          o.d_model = fused::widest_fused + 4;
        },
        [](auto& o) { o.d_conv = 1; },
        [](auto& o) { o.d_conv = 3; },
        [](auto& o) { o.d_conv = 4; },
        [](auto& o) { o.d_conv = 5; },
        [](auto& o) {
          o.d_conv = 2;
          o.states = 3;
        },
        [](auto& o) { o.d_conv = 40; },
        [](auto& o) { o.states = 7; },
        [](auto& o) { o.d_state = 5; },
        [](auto& o) { o.d_state = 24; },
        [](auto& o) {
          o.d_model = o.d_state = 2;
          o.expand = 1;
          o.norm = false;
        },
        [](auto& o) {
          o.d_model = 1;
          o.expand = 3;
        },
        [](auto& o) {
          o.d_model = 36;
          o.headdim = 18;
        },
    };
    for (const auto& change : changes) {
      Mamba2Options options;
      change(options);
      for (const std::int64_t batch : few_and_many) {
        QVERIFY2(agrees(options, batch, 70), description(options).c_str());
      }
    }
  }

  void filters_of_all_channels_on_every_choice_of_segments() {
    for (const Filters filters : {Filters::shared, Filters::fixed}) {
      for (int segments = 0; segments < 8; ++segments) {
        Mamba2Options options;
        options.filters = filters;
        options.d_conv = 3;
        options.conv_x = segments & 1, options.conv_B = segments & 2, options.conv_C = segments & 4;
        for (const std::int64_t batch : few_and_many)
          QVERIFY2(agrees(options, batch, 40), description(options).c_str());
      }
    }
  }

  void all_combinations_of_parts() {
    std::mt19937_64 generator(5);
    for (int index = 0; index < 150; ++index) {
      const auto coin = [&] { return generator() % 2 == 0; };
      const auto from = [&](std::initializer_list<std::int64_t> choices) {
        return choices.begin()[generator() % choices.size()];
      };
      Mamba2Options options;
      options.states = from({2, 3, 8});
      options.d_model = index % 10 == 0 ? fused::widest_fused + 4 : from({3, 6, 8, 16, 20});
      options.d_state = from({1, 4, 8, 9});
      options.expand = from({1, 2});
      options.headdim = coin() ? 0 : options.expand * options.d_model / 2;
      options.layers = from({1, 1, 2});
      options.d_conv = from({1, 2, 3, 6});
      options.conv_x = coin();
      options.conv_B = coin();
      options.conv_C = coin();
      options.activation = static_cast<Activation>(from({0, 1, 2}));
      options.gate = coin();
      options.learned_decay = coin();
      options.norm = coin();
      options.skip = coin();
      options.mlp = static_cast<Mlp>(from({0, 1, 2}));
      options.readout = coin() ? Readout::softmax : Readout::l1;
      options.seed = static_cast<std::uint64_t>(index);
      // One state or one token only scales y, which a norm undoes: those gradients vanish, and rounding is all there
      // is.
      auto length = from({1, 2, 5, 33, 100});
      if (options.norm) {
        options.d_state = std::max<std::int64_t>(options.d_state, 2);
        length = std::max<std::int64_t>(length, 2);
      }
      // Gradients that are sums of cancelling terms keep fewer digits; a wrong formula is off by far more.
      QVERIFY2(agrees(options, from({1, 3, 20}), length, 1e-4), description(options).c_str());
    }
  }

  void every_simd_target_agrees() {
    for (const std::string& target : kernels::simd_targets()) {
      kernels::use_simd_target(target);
      Mamba2Options options;
      options.layers = 2;
      options.headdim = 8;
      options.skip = true;
      options.states = 3;
      for (const std::int64_t batch : few_and_many) QVERIFY2(agrees(options, batch, 70), target.c_str());
    }
  }

  // At the weights a run begins with. A gradient that cancels differs by its terms' rounding, so that the largest
  // gradient of the model is the measure.
  void simd_targets_agree_with_each_other() {
    for (const std::int64_t batch : few_and_many) {
      std::map<std::string, at::Tensor> first;
      for (const std::string& target : kernels::simd_targets()) {
        kernels::use_simd_target(target);
        Mamba2 model(Mamba2Options{}, Engine::fused, Precision::float32);

        const auto results = everything(model, some_tokens(batch, 70, 2), some_tokens(batch, 70, 2, 7));
        if (first.empty()) first = results;
        double largest_gradient = 0;
        for (const auto& [name, tensor] : first) {
          if (name != "log p" && name != "loss") largest_gradient = std::max(largest_gradient, magnitude(tensor));
        }
        for (const auto& [name, tensor] : results) {
          const bool is_gradient = name != "log p" && name != "loss";
          const double difference = relative_difference(tensor, first.at(name), is_gradient ? largest_gradient : 0);
          QVERIFY2(difference <= 1e-6, (target + " " + name + " " + std::to_string(difference * 1e6)).c_str());
        }
      }
    }
  }

  void threads_do_not_change_a_bit() {
    for (const std::int64_t width : {std::int64_t{8}, fused::widest_fused + 16}) {
      Mamba2Options options;
      options.d_model = width;
      options.layers = 2;
      std::map<std::string, at::Tensor> one;
      for (const int threads : {1, 2, 5}) {
        options.threads = threads;
        Mamba2 model(options, Engine::fused, Precision::float32);
        auto loss = model.loss(some_tokens(19, 65, 2), some_tokens(19, 65, 2, 3));
        loss.backward();
        auto results = named(model);
        for (auto& [name, tensor] : results) {
          tensor = tensor.grad();
        }
        results["loss"] = loss.detach();
        results["log p"] = model.log_probabilities(some_tokens(19, 65, 2)).detach();
        if (threads == 1) {
          one = results;
        }
        for (const auto& [name, tensor] : results) {
          QVERIFY2(torch::equal(tensor, one.at(name)), name.c_str());
        }
      }
    }
  }

  void later_tokens_do_not_matter() {
    Mamba2Options options;
    options.layers = 2;
    options.d_conv = 3;
    Mamba2 model(options, Engine::fused, Precision::float32);
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

  void token_by_token_is_the_same_function() {
    Mamba2Options options;
    options.layers = 2;
    options.headdim = 8;
    Mamba2 model(options, Engine::fused, Precision::float32);
    enlarge(model, 0.15);
    const torch::NoGradGuard no_gradients;
    for (const std::int64_t length : {1, 2, 3, 31, 64, 300}) {
      const auto tokens = some_tokens(2, length, 2);
      const auto expected = model.log_probabilities(tokens);
      auto state = model.initial_state(2);
      for (std::int64_t t = 0; t < length; ++t) {
        const auto found = model.step(tokens.select(1, t), *state);
        QVERIFY((found - expected.select(1, t)).abs().max().item<double>() < 1e-5);
      }
    }
  }

  void loss_without_gradients_is_the_same() {
    Mamba2 model(Mamba2Options{}, Engine::fused, Precision::float32);
    const auto tokens = some_tokens(4, 100, 2), targets = some_tokens(4, 100, 2, 1);
    const auto with = model.loss(tokens, targets);
    QVERIFY(with.requires_grad());
    const torch::NoGradGuard no_gradients;
    QVERIFY(torch::equal(model.loss(tokens, targets), with.detach()));
  }

  void nan_is_not_hidden() {
    for (const char* name : {"layers.0.in_proj.dt.weight", "layers.0.dt_bias", "layers.0.A_log", "layers.0.conv.B.bias",
                             "layers.0.mlp.fc1_gate.weight", "lm_head.weight"}) {
      Mamba2 model(Mamba2Options{}, Engine::fused, Precision::float32);
      {
        const torch::NoGradGuard no_gradients;
        named(model).at(name).view({-1})[0].fill_(NAN);
      }
      const auto loss = model.loss(some_tokens(2, 30, 2), some_tokens(2, 30, 2, 1));
      QVERIFY2(std::isnan(loss.item<double>()), name);
    }
  }

  void float64_is_refused() {
    QVERIFY_EXCEPTION_THROWN(Mamba2(Mamba2Options{}, Engine::fused, Precision::float64), std::invalid_argument);
  }
};

QTEST_APPLESS_MAIN(TestMamba2Kernels)
#include "test_mamba2_kernels.moc"
