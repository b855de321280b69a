// Motif-Mamba on Mamba-2: counts, engines against each other, k = 0 against plain Mamba-2, step against the whole
// sequence, gradients against finite differences, traces against states, and the settings that lead there.
#include <torch/torch.h>

#include <QTest>
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "core/models/kernel_functions.h"
#include "core/models/mamba2.h"
#include "core/models/mamba2_kernels.h"
#include "core/models/model_tensors.h"
#include "core/models/whole_model_plan.h"
#include "core/motif/coupling.h"
#include "tests/models/model_helpers.h"

using namespace mambarium;

namespace {

Mamba2Options small_options() {
  Mamba2Options options;
  options.states = 7;
  options.d_model = 6;
  options.d_state = 5;
  options.headdim = 4;
  options.layers = 2;
  options.d_conv = 3;
  options.skip = true;
  return options;
}

Mamba2Options coupled_options(bool etd = false, bool per_channel = false) {
  Mamba2Options options = small_options();
  options.coupling.rank = 2;
  options.coupling.etd = etd;
  options.coupling.per_channel = per_channel;
  options.coupling.scale = 0.5;
  return options;
}

void copy_shared_numbers(SequenceModel& from, SequenceModel& to) {
  const torch::NoGradGuard no_gradients;
  const auto all = named(from);
  for (const auto& [name, tensor] : named(to)) {
    if (all.contains(name)) tensor.copy_(all.at(name));
  }
}

// The first layer of the model.
Mamba2Layer layer_of(SequenceModel& model) {
  const auto all = named(model);
  const auto get = [&](const std::string& name) { return all.at("layers.0." + name); };
  Mamba2Layer layer;
  layer.norm = get("norm.weight"), layer.y_norm = get("y_norm.weight");
  layer.in_z = get("in_proj.z.weight"), layer.in_x = get("in_proj.x.weight"), layer.in_B = get("in_proj.B.weight");
  layer.in_C = get("in_proj.C.weight"), layer.in_dt = get("in_proj.dt.weight");
  layer.conv_x = get("conv.x.weight"), layer.conv_x_bias = get("conv.x.bias");
  layer.conv_B = get("conv.B.weight"), layer.conv_B_bias = get("conv.B.bias");
  layer.conv_C = get("conv.C.weight"), layer.conv_C_bias = get("conv.C.bias");
  layer.dt_bias = get("dt_bias"), layer.A_log = get("A_log"), layer.D = get("D");
  layer.out_proj = get("out_proj.weight");
  layer.coupling = {get("coupling.P"), get("coupling.Q"), get("coupling.k")};
  return layer;
}

struct LossAndGradients {
  double loss = 0;
  std::map<std::string, at::Tensor> gradients;
};

// At the weights of enlarge(), or at the neighbour of that number, a thousandth away.
LossAndGradients trained_on(const Mamba2Options& options, Engine engine, Precision precision, std::int64_t length,
                            int neighbour = 0) {
  Mamba2 model(options, engine, precision);
  enlarge(model, 0.2);
  for (Parameter& parameter : model.parameters()) {
    const torch::NoGradGuard no_gradients;
    if (neighbour == 0) break;
    const auto steps = torch::arange(parameter.tensor.numel(), torch::kFloat64).reshape(parameter.tensor.sizes());
    const auto moved = parameter.tensor.to(torch::kFloat64) * (1 + 1e-3 * torch::cos(steps * (2.3 + neighbour)));
    parameter.tensor.copy_(moved.to(torch::kFloat32));
  }
  const auto loss = model.loss(some_tokens(3, length, options.states), some_tokens(3, length, options.states, 1));
  loss.backward();
  LossAndGradients result{loss.item<double>(), {}};
  for (const auto& [name, tensor] : named(model)) result.gradients[name] = tensor.grad();
  return result;
}

// The largest difference of a gradient, in parts of its size.
double gradients_apart(const LossAndGradients& found, const LossAndGradients& exact) {
  double largest = 0;
  for (const auto& [name, gradient] : exact.gradients) {
    const double size = std::max(gradient.abs().max().item<double>(), 1e-2);
    largest = std::max(largest, largest_difference(found.gradients.at(name), gradient) / size);
  }
  return largest;
}

// The kernels against the operators in float64. How far rounding may lead is what the operators lose in float32, at
// these weights and close by: at one point alone they may be lucky.
void compare_engines(const Mamba2Options& options, std::int64_t length) {
  const auto exact = trained_on(options, Engine::torch, Precision::float64, length);
  const auto fused = trained_on(options, Engine::fused, Precision::float32, length);
  const double apart = gradients_apart(fused, exact);
  double rounding = 0;
  for (const int neighbour : {0, 1, 2, 3}) {
    const auto rounded = trained_on(options, Engine::torch, Precision::float32, length, neighbour);
    const auto whole = trained_on(options, Engine::torch, Precision::float64, length, neighbour);
    rounding = std::max(rounding, gradients_apart(rounded, whole));
  }
  qInfo("gradients apart, in parts of their size: %.2g; operators in float32: %.2g", apart, rounding);
  QVERIFY(std::abs(fused.loss - exact.loss) < 1e-5);
  QVERIFY(apart <= std::max(1e-5, 4 * rounding));
}

void every_coupling() {
  QTest::addColumn<bool>("etd");
  QTest::addColumn<bool>("per_channel");
  for (const bool etd : {false, true}) {
    QTest::addRow("%s, one for the layer", etd ? "etd" : "euler") << etd << false;
    QTest::addRow("%s, one for each channel", etd ? "etd" : "euler") << etd << true;
  }
}

ExperimentConfig coupled_config() {
  ExperimentConfig config;
  config.set_from_string("model.kind", "mamba2");
  config.set_from_string("model.coupling", "etd");
  return config;
}

}  // namespace

class TestMamba2Coupled : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_coupling_adds_2_n_r_and_one_to_each_layer() {
    const auto count = [](const Mamba2Options& options) {
      return Mamba2(options, Engine::fused, Precision::float32).parameter_count();
    };
    QCOMPARE(count(coupled_options()) - count(small_options()), 2 * (2 * 5 * 2 + 1));
    QCOMPARE(count(coupled_options(false, true)) - count(small_options()), 2 * 12 * (2 * 5 * 2 + 1));
  }

  void the_other_weights_start_as_they_do_without() {
    Mamba2 plain(small_options(), Engine::fused, Precision::float32),
        coupled(coupled_options(), Engine::fused, Precision::float32);
    const auto all = named(coupled);
    for (const auto& [name, tensor] : named(plain)) QVERIFY2(torch::equal(all.at(name), tensor), name.c_str());
    const auto k = all.at("layers.1.coupling.k");
    QCOMPARE(k.item<double>(), 0.5);
    QVERIFY(all.at("layers.1.coupling.P").abs().max().item<double>() < 0.05);
    QVERIFY(!torch::equal(all.at("layers.0.coupling.P"), all.at("layers.1.coupling.P")));
  }

  void engines_agree_data() { every_coupling(); }
  void engines_agree() {
    QFETCH(bool, etd);
    QFETCH(bool, per_channel);
    compare_engines(coupled_options(etd, per_channel), 70);
  }

  void engines_agree_whatever_else_the_block_has() {
    Mamba2Options wide = coupled_options(true);
    wide.d_model = fused::widest_fused + 2;
    wide.headdim = 0;
    compare_engines(wide, 20);
    Mamba2Options shared = coupled_options();
    shared.filters = Filters::shared;
    shared.mlp = Mlp::none;
    shared.norm = shared.gate = false;
    compare_engines(shared, 40);
    Mamba2Options remembering = coupled_options(true);
    remembering.learned_decay = false;
    remembering.conv_B = remembering.conv_C = false;
    remembering.mlp = Mlp::plain;
    compare_engines(remembering, 20);
  }

  void at_k_0_a_mixer_is_that_of_the_diagonal_scan_bit_for_bit() {
    for (const bool etd : {false, true}) {
      for (const Engine engine : {Engine::fused, Engine::torch}) {
        const bool is_fused = engine == Engine::fused;
        auto options = coupled_options(etd);
        options.coupling.scale = 0;
        options.mlp = Mlp::none;
        Mamba2 model(options, engine, is_fused ? Precision::float32 : Precision::float64);
        enlarge(model);
        const torch::NoGradGuard no_gradients;
        named(model).at("layers.0.coupling.k").zero_();
        const auto layer = layer_of(model);
        const auto u = torch::sin(torch::arange(2 * 90 * 6, torch::kFloat64) * 1.3)
                           .view({2, 90, 6})
                           .to(is_fused ? torch::kFloat32 : torch::kFloat64);
        operators::MixerFunctions diagonal, coupled;
        diagonal.coupled_scan = [&](const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                                    const at::Tensor& A, const at::Tensor&, const at::Tensor&) {
          return is_fused ? fused::diagonal_scan(x, dt, B, C, A) : operators::diagonal_scan(x, dt, B, C, A, {});
        };
        if (is_fused)
          coupled.coupled_scan = [&](const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B,
                                     const at::Tensor& C, const at::Tensor& A, const at::Tensor& P,
                                     const at::Tensor& Q) {
            return fused::coupled_scan(x, dt, B, C, A, P, Q, options.coupling.form());
          };
        const auto mixed = operators::mixer(options, layer, u, nullptr, nullptr, coupled);
        QVERIFY(torch::equal(mixed, operators::mixer(options, layer, u, nullptr, nullptr, diagonal)));
        QVERIFY(mixed.abs().max().item<double>() > 0.01);
      }
    }
  }

  void at_k_0_a_model_is_plain_mamba2_to_rounding() {
    for (const bool etd : {false, true}) {
      for (const Engine engine : {Engine::fused, Engine::torch}) {
        const auto precision = engine == Engine::fused ? Precision::float32 : Precision::float64;
        auto options = coupled_options(etd);
        Mamba2 coupled(options, engine, precision), plain(small_options(), engine, precision);
        enlarge(coupled, 0.2);
        copy_shared_numbers(coupled, plain);
        for (auto& [name, tensor] : named(coupled)) {
          const torch::NoGradGuard no_gradients;
          if (name.ends_with("coupling.k")) tensor.zero_();
        }
        const auto tokens = some_tokens(3, 200, 7), targets = some_tokens(3, 200, 7, 1);
        const double rounding = engine == Engine::fused ? 1e-5 : 1e-12;
        const double apart = largest_difference(coupled.log_probabilities(tokens), plain.log_probabilities(tokens));
        qInfo("log-probabilities apart: %.2g", apart);
        QVERIFY(apart <= rounding);
        coupled.loss(tokens, targets).backward();
        plain.loss(tokens, targets).backward();
        const auto of_coupled = named(coupled);
        for (const auto& [name, tensor] : named(plain))
          QVERIFY2(largest_difference(of_coupled.at(name).grad(), tensor.grad()) <= rounding, name.c_str());
        // and yet the coupling can be learned: only k moves it away from 0.
        QVERIFY(of_coupled.at("layers.0.coupling.k").grad().abs().item<double>() > 0);
        QCOMPARE(of_coupled.at("layers.0.coupling.P").grad().abs().max().item<double>(), 0.0);
      }
    }
  }

  void the_coupling_matters() {
    Mamba2 model(coupled_options(), Engine::fused, Precision::float32);
    enlarge(model);
    const torch::NoGradGuard no_gradients;
    const auto tokens = some_tokens(2, 50, 7);
    const auto before = model.log_probabilities(tokens);
    named(model).at("layers.0.coupling.k").zero_();
    const double difference = largest_difference(model.log_probabilities(tokens), before);
    QVERIFY2(difference > 1e-4, QByteArray::number(difference));
  }

  void step_equals_scan_over_4096_tokens() {
    for (const bool etd : {false, true}) {
      Mamba2 model(coupled_options(etd), Engine::fused, Precision::float32);
      const auto tokens = some_tokens(1, 4096, 7);
      const torch::NoGradGuard no_gradients;
      const auto whole = model.log_probabilities(tokens);
      const double size = whole.abs().max().item<double>();
      const double difference = largest_difference(whole, read_token_by_token(model, tokens)) / size;
      qInfo("step against scan, float32, relative: %.2g", difference);
      QVERIFY(difference <= 1e-6);
    }
  }

  void step_equals_scan_in_float64_with_large_weights() {
    for (const bool etd : {false, true}) {
      for (const bool per_channel : {false, true}) {
        Mamba2 model(coupled_options(etd, per_channel), Engine::torch, Precision::float64);
        enlarge(model);
        const torch::NoGradGuard no_gradients;
        const auto tokens = some_tokens(3, 60, 7);
        QVERIFY(largest_difference(read_token_by_token(model, tokens), model.log_probabilities(tokens)) <= 1e-12);
      }
    }
  }

  void the_future_changes_nothing() {
    Mamba2 model(coupled_options(), Engine::fused, Precision::float32);
    enlarge(model);
    const torch::NoGradGuard no_gradients;
    const auto tokens = some_tokens(2, 50, 7);
    auto changed = tokens.clone();
    changed.select(1, 30).add_(1).remainder_(7);
    const auto before = model.log_probabilities(tokens), after = model.log_probabilities(changed);
    QVERIFY(torch::equal(before.narrow(1, 0, 30), after.narrow(1, 0, 30)));
    QVERIFY(!torch::equal(before, after));
  }

  void threads_change_no_bit() {
    const auto tokens = some_tokens(5, 60, 7), targets = some_tokens(5, 60, 7, 1);
    std::map<std::string, at::Tensor> first;
    for (const int threads : {1, 2, 3}) {
      auto options = coupled_options(true, true);
      options.threads = threads;
      Mamba2 model(options, Engine::fused, Precision::float32);
      enlarge(model);
      model.loss(tokens, targets).backward();
      for (const auto& [name, tensor] : named(model)) {
        if (threads == 1) first[name] = tensor.grad();
        QVERIFY2(torch::equal(tensor.grad(), first.at(name)), name.c_str());
      }
    }
  }

  void gradients_agree_with_finite_differences() {
    for (const bool etd : {false, true}) {
      for (const bool per_channel : {false, true}) {
        Mamba2 model(coupled_options(etd, per_channel), Engine::torch, Precision::float64);
        enlarge(model);
        const double error = gradient_error(model, some_tokens(2, 12, 7), some_tokens(2, 12, 7, 1), 6);
        qInfo("against finite differences: %.2g", error);
        QVERIFY(error < 1e-6);
      }
    }
  }

  void gradients_agree_with_finite_differences_where_nothing_decays() {
    auto options = coupled_options(true);
    options.learned_decay = false;
    Mamba2 model(options, Engine::torch, Precision::float64);
    enlarge(model);
    QVERIFY(gradient_error(model, some_tokens(2, 8, 7), some_tokens(2, 8, 7, 1), 4) < 1e-6);
  }

  void targets_that_do_not_count_are_left_out() {
    Mamba2 model(coupled_options(), Engine::fused, Precision::float32);
    enlarge(model);
    const auto tokens = some_tokens(2, 12, 7);
    auto targets = torch::full({2, 12}, -1, torch::kInt64);
    targets[0][5] = 3;
    targets[1][11] = 0;
    const auto rows = model.log_probabilities(tokens);
    const double expected = -(rows[0][5][3] + rows[1][11][0]).item<double>() / 2;
    QVERIFY(std::abs(model.loss(tokens, targets).item<double>() - expected) < 1e-6);
  }

  void a_trace_is_the_state_of_its_channel_data() { every_coupling(); }
  void a_trace_is_the_state_of_its_channel() {
    QFETCH(bool, etd);
    QFETCH(bool, per_channel);
    constexpr std::int64_t channel = 9, head = 2, of_head = 1;
    Mamba2 model(coupled_options(etd, per_channel), Engine::fused, Precision::float32);
    enlarge(model, 0.2);
    const std::vector<std::int32_t> tokens = {1, 2, 3, 4, 0, 6, 5, 1, 1, 2};
    const torch::NoGradGuard no_gradients;
    const auto state = model.initial_state(1);
    const ChannelTrace trace = model.trace(model.embedded(row_of(tokens)), 1, channel);
    QCOMPARE(trace.state.size(), tokens.size() * 5);
    const double rate = -std::exp(named(model).at("layers.1.A_log")[head].item<double>());
    for (const double a : trace.A) QVERIFY(std::abs(a - rate) < 1e-12);
    std::vector<double> h(5);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      model.step(torch::tensor({static_cast<std::int64_t>(tokens[t])}), *state);
      const auto of_model = state->hidden()[1][0][head][of_head];
      // and the recurrence of the trace's own numbers leads there.
      std::vector<double> z(2), next(5);
      for (std::size_t r = 0; r < 2; ++r)
        for (std::size_t n = 0; n < 5; ++n) z[r] += trace.Q[r * 5 + n] * h[n];
      const double dt = trace.dt[t], weight = etd ? std::expm1(dt * rate) / rate : dt;
      for (std::size_t n = 0; n < 5; ++n) {
        const double coupling = trace.P[n * 2] * z[0] + trace.P[n * 2 + 1] * z[1];
        next[n] = std::exp(dt * rate) * h[n] + weight * coupling + dt * trace.drive[t * 5 + n];
        QVERIFY(std::abs(trace.state[t * 5 + n] - of_model[static_cast<std::int64_t>(n)].item<double>()) < 2e-5);
        QVERIFY(std::abs(next[n] - trace.state[t * 5 + n]) < 2e-5);
      }
      h = next;
    }
  }

  void what_is_not_there_has_no_trace() {
    Mamba2 model(coupled_options(), Engine::fused, Precision::float32);
    const auto u = model.embedded(row_of(std::vector<std::int32_t>{1, 2}));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.trace(u, 2, 0));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.trace(u, 0, 12));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.trace(u.narrow(2, 0, 3), 0, 0));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.embedded(row_of(std::vector<std::int32_t>{1, 7})));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.coupling(2, 0));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.coupling(0, -1));
    QCOMPARE(model.coupled_layers(), 2);
    QCOMPARE(model.channels(), 12);
    QVERIFY(model.shared_by_channels());
    QCOMPARE(model.coupling(1, 11).scale, 0.5);
  }

  void the_motif_loss_has_its_gradient() {
    for (const bool per_channel : {false, true}) {
      auto options = coupled_options(false, per_channel);
      options.coupling.target = motif_target("021U");
      options.coupling.motif.rule = {.beta = 3, .theta = 0.1};
      options.coupling.weight = 2;
      Mamba2 model(options, Engine::torch, Precision::float64);
      enlarge(model);
      check_penalty_gradient(model);
    }
  }

  void the_warm_up_shapes_the_coupling_and_nothing_else() {
    auto options = small_options();
    options.d_state = 16;
    options.coupling.rank = 2;
    options.coupling.target = motif_target("021U");
    Mamba2 model(options, Engine::fused, Precision::float32), untouched(options, Engine::fused, Precision::float32);
    check_warm_up(model, untouched);
  }

  void without_a_motif_nothing_is_asked_for() {
    Mamba2 blank(coupled_options(), Engine::fused, Precision::float32);
    QVERIFY(blank.coupled() != nullptr);
    QVERIFY(!blank.has_motif());
    QVERIFY(!blank.penalty().defined());
    QVERIFY(std::isnan(blank.motif_standing().loss));
    Mamba2 plain(small_options(), Engine::fused, Precision::float32);
    QVERIFY(plain.coupled() == nullptr);
  }

  void no_kernel_is_the_whole_of_it() {
    Mamba2 model(coupled_options(), Engine::fused, Precision::float32);
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.whole_model_plan(2, 8));
    const auto tokens = some_tokens(64, 32, 7);
    QVERIFY(fused::suits_whole_loss(small_options(), tokens));
    QVERIFY(!fused::suits_whole_loss(coupled_options(), tokens));
  }

  void the_cap_holds_couplings_back() {
    for (const bool per_channel : {false, true}) {
      auto options = coupled_options(true, per_channel);
      options.coupling.cap = 0.1;
      Mamba2 model(options, Engine::fused, Precision::float32);
      enlarge(model);
      const auto norm = [&](std::int64_t channel) {
        const CoupledModel::Parts parts = model.coupling(0, channel);
        return spectral_norm({.n = 5, .rank = 2, .p = parts.P, .q = parts.Q, .k = parts.scale});
      };
      const auto decays = named(model).at("layers.0.A_log").detach().exp();
      const std::int64_t width = model.channels() / decays.size(0);
      std::vector<double> free;
      for (std::int64_t channel = 0; channel < model.channels(); ++channel) free.push_back(norm(channel));
      {
        const torch::NoGradGuard no_gradients;
        named(model).at("layers.0.coupling.k").mul_(1 / free[0]);  // a norm of 1
      }
      model.hold_couplings();
      for (std::int64_t channel = 0; channel < model.channels(); ++channel) {
        const double slowest = (per_channel ? decays[channel / width] : decays.min()).item<double>();
        const double expected = std::min(free[static_cast<std::size_t>(channel)] / free[0], 0.1 * slowest);
        QVERIFY(std::abs(norm(channel) - expected) <= 2e-6 * expected);
      }
    }
  }

  void picard_passes_are_refused() {
    Mamba2 model(coupled_options(), Engine::fused, Precision::float32);
    QVERIFY(refusal([&] { model.evaluate_by(std::make_shared<PicardEvaluation>()); }).find("mamba1") !=
            std::string::npos);
    model.evaluate_by(nullptr);
  }

  void settings_make_it() {
    const ExperimentConfig config = coupled_config();
    QVERIFY(config.applies("model.coupling"));
    QVERIFY(has_coupling(config));
    QVERIFY(config.validate().empty());
    const auto model = make_model(config);
    QVERIFY(model->coupled() != nullptr);
    QCOMPARE(model->coupled()->channels(), d_inner_of(config));
    ExperimentConfig plain = config;
    plain.set_from_string("model.coupling", "none");
    QCOMPARE(model->parameter_count() - make_model(plain)->parameter_count(), 2 * 8 * 2 + 1);
    QVERIFY(make_model(plain)->coupled() == nullptr);
    QVERIFY(estimated_bytes(config) > estimated_bytes(plain));
  }

  void settings_keep_it_from_the_gpu() {
    ExperimentConfig config = coupled_config();
    QVERIFY(!trains_on_gpu(config));
    config.set_from_string("run.device", "cuda");
    const auto problems = config.validate();
    QCOMPARE(problems.size(), std::size_t{1});
    QCOMPARE(problems[0].where, std::string("run.device"));
    config.set_from_string("model.coupling", "none");
    QVERIFY(trains_on_gpu(config));
    QVERIFY(config.validate().empty());
  }

  void mamba_zero_has_none() {
    ExperimentConfig config = coupled_config();
    config.set_from_string("model.kind", "mamba_zero");
    QVERIFY(!config.applies("model.coupling"));
    QVERIFY(!has_coupling(config));
    QVERIFY(make_model(config)->coupled() == nullptr);
    QVERIFY(trains_on_gpu(config));
  }
};

QTEST_APPLESS_MAIN(TestMamba2Coupled)
#include "test_mamba2_coupled.moc"
