#include "core/theory/constructions.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/models/mamba2.h"

namespace mambarium {
namespace {

// softplus(unit_dt) = 1.
const double unit_dt = std::log(std::expm1(1.0));
// Against the read-out's floor. A power of two, so that it rounds nothing.
constexpr double loudness = 0x1p30;
// What a token adds to the counts where they have to decay by a factor that is as good as 1.
constexpr double least_dt = 1e-8;
// exp(-60) = 9e-27 of the counts are left after a switch.
constexpr double switch_dt = 60;

[[noreturn]] void refuse(const std::string& sentence) {
  throw std::invalid_argument(sentence);
}

void check(const ConstructionSettings& s) {
  const auto& names = construction_names();
  if (std::ranges::find(names, s.name) == names.end()) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    refuse("there is no construction \"" + s.name + "\"; there are " + list);
  }
  if (!(s.beta > 0) || !std::isfinite(s.beta)) refuse(s.name + ": beta must be a finite number above 0");
  if (s.states < 2) refuse(s.name + ": it takes at least 2 states, not " + std::to_string(s.states));
  if (s.name == "theorem4") {
    if (s.states != 2) refuse("theorem4: it is for 2 states, not " + std::to_string(s.states) + "; theorem1 takes any");
    constexpr double least = 1e-12;  // the taps grow with its root
    if (!(s.epsilon >= least && s.epsilon < 1)) refuse("theorem4: epsilon must lie between 1e-12 and 1");
  }
  constexpr double least_p_switch = 1e-9;  // well above the read-out's floor
  if (s.name == "switching" && !(s.p_switch >= least_p_switch && s.p_switch < 1)) {
    refuse("switching: the probability of a switch must lie between 1e-9 and 1");
  }
  if (s.name == "higher_order") {
    constexpr std::int64_t most = 8;
    const bool binary = s.states == 2 && s.order >= 1 && s.order <= most;
    if (!binary && s.order != 2) {
      refuse("higher_order: it is for 2 states and orders 1 to 8, or for order 2; not for " + std::to_string(s.states) +
             " states and order " + std::to_string(s.order));
    }
  } else if (s.order != 1) {
    refuse(s.name + ": it has order 1, not " + std::to_string(s.order) + "; higher_order takes others");
  }
}

Mamba2Options zero(std::int64_t states, std::int64_t d_model, std::int64_t d_state, std::int64_t window) {
  Mamba2Options options;
  options.states = states;
  options.d_model = d_model;
  options.d_state = d_state;
  options.expand = 1;
  options.d_conv = window;
  options.activation = Activation::none;
  options.gate = false;
  options.learned_decay = false;
  options.norm = false;
  options.mlp = Mlp::none;
  options.readout = Readout::l1;
  return options;
}

// The parameters of a one-layer model, all 0 at first, in float64.
class Weights {
 public:
  Weights(const Mamba2Options& options, Engine engine, Precision precision)
      : model_(std::make_unique<Mamba2>(options, engine, precision)) {
    for (const Parameter& parameter : model_->parameters()) {
      values_.push_back(torch::zeros(parameter.tensor.sizes(), torch::kFloat64));
    }
  }

  at::Tensor of(const std::string& name) const {
    const auto& parameters = model_->parameters();
    const auto found = std::ranges::find(parameters, name, &Parameter::name);
    if (found == parameters.end()) throw std::logic_error("a construction sets " + name + ", which its model lacks");
    return values_[static_cast<std::size_t>(found - parameters.begin())];
  }
  at::Tensor in_layer(const std::string& name) const { return of("layers.0." + name); }
  void set(at::Tensor matrix, std::int64_t row, std::int64_t column, double value) const {
    matrix.index_put_({row, column}, value);
  }

  std::unique_ptr<SequenceModel> model() && {
    const torch::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < values_.size(); ++i) model_->parameters()[i].tensor.copy_(values_[i]);
    return std::move(model_);
  }

 private:
  std::unique_ptr<Mamba2> model_;
  std::vector<at::Tensor> values_;
};

void identity(const at::Tensor& matrix) {
  matrix.copy_(torch::eye(matrix.size(0), torch::kFloat64));
}

// Token s is the unit vector 2s; x is the unit vector beside it; y counts what followed, and lm_head reads beta from
// the token itself and the counts from beside.
void count_tokens(const Weights& weights, const ConstructionSettings& s, std::int64_t window) {
  const auto embedding = weights.of("embedding.weight"), lm_head = weights.of("lm_head.weight");
  for (std::int64_t i = 0; i < s.states; ++i) {
    weights.set(embedding, i, 2 * i, 1);
    weights.set(weights.in_layer("in_proj.x.weight"), 2 * i + 1, 2 * i, 1);
    for (std::int64_t j = 0; j < s.states; ++j) weights.set(lm_head, i, 2 * j, s.beta);
    weights.set(lm_head, i, 2 * i + 1, 1);
  }
  weights.in_layer("conv.x.weight").select(1, window - 1).fill_(1);
  weights.in_layer("dt_bias").fill_(unit_dt);
  identity(weights.in_layer("out_proj.weight"));
}

// B names the token before, C the present one.
void name_pairs(const Weights& weights, const ConstructionSettings& s) {
  for (std::int64_t i = 0; i < s.states; ++i) {
    weights.set(weights.in_layer("in_proj.B.weight"), i, 2 * i, 1);
    weights.set(weights.in_layer("in_proj.C.weight"), i, 2 * i, 1);
  }
  weights.in_layer("conv.B.weight").select(1, 0).fill_(1);
  weights.in_layer("conv.C.weight").select(1, 1).fill_(1);
}

std::unique_ptr<SequenceModel> theorem1(const ConstructionSettings& s, Engine engine, Precision precision) {
  Weights weights(zero(s.states, 2 * s.states, s.states, 2), engine, precision);
  count_tokens(weights, s, 2);
  name_pairs(weights, s);
  weights.of("lm_head.weight").mul_(loudness);
  return std::move(weights).model();
}

std::unique_ptr<SequenceModel> theorem4(const ConstructionSettings& s, Engine engine, Precision precision) {
  Mamba2Options options = zero(2, 2, 2, 2);
  options.conv_C = false;
  Weights weights(options, engine, precision);
  const double r = -std::sqrt(s.beta * s.epsilon / (1 + s.beta * s.epsilon));
  const double oldest_x = r, oldest_B = -1 / r, kappa = oldest_x + oldest_B;
  const double same = kappa * s.beta - 1, other = kappa * s.beta - r;
  const auto embedding = torch::tensor({same, other, other, same}, torch::kFloat64).view({2, 2});
  weights.of("embedding.weight").copy_(embedding);
  for (const char* const name : {"in_proj.x.weight", "in_proj.B.weight", "in_proj.C.weight"}) {
    weights.in_layer(name).copy_(torch::inverse(embedding));
  }
  weights.in_layer("conv.x.weight").copy_(torch::tensor({oldest_x, 1.0}, torch::kFloat64).expand({2, 2}));
  weights.in_layer("conv.B.weight").copy_(torch::tensor({oldest_B, 1.0}, torch::kFloat64).expand({2, 2}));
  weights.in_layer("dt_bias").fill_(unit_dt);
  identity(weights.in_layer("out_proj.weight"));
  identity(weights.of("lm_head.weight"));
  weights.of("lm_head.weight").mul_(loudness);
  return std::move(weights).model();
}

// A channel of B for every context, of C the same one token later: 1 where all tokens fit, 0 elsewhere, by ReLU.
std::unique_ptr<SequenceModel> higher_order(const ConstructionSettings& s, Engine engine, Precision precision) {
  const std::int64_t window = s.order + 1;
  const auto contexts = static_cast<std::int64_t>(std::pow(s.states, s.order) + 0.5);
  Mamba2Options options = zero(s.states, 2 * s.states, contexts, window);
  options.activation = Activation::relu;
  Weights weights(options, engine, precision);
  count_tokens(weights, s, window);
  for (const char* const of : {"B", "C"}) {
    const auto in_proj = weights.in_layer("in_proj." + std::string(of) + ".weight");
    const auto taps = weights.in_layer("conv." + std::string(of) + ".weight");
    const std::int64_t first = *of == 'C' ? 1 : 0;
    weights.in_layer("conv." + std::string(of) + ".bias").fill_(static_cast<double>(1 - s.order));
    for (std::int64_t context = 0; context < contexts; ++context) {
      if (s.states == 2) {
        weights.set(in_proj, context, 0, -1);
        weights.set(in_proj, context, 2, 1);
        for (std::int64_t i = 0; i < s.order; ++i) {
          const std::int64_t token = context >> (s.order - 1 - i) & 1;
          weights.set(taps, context, first + i, token == 1 ? 1 : -1);
        }
      } else {
        const std::int64_t older = context / s.states, newer = context % s.states;
        weights.set(in_proj, context, 2 * older, 1);
        if (newer != older) weights.set(in_proj, context, 2 * newer, -1);
        weights.set(taps, context, first, 1);
        weights.set(taps, context, first + 1, newer == older ? 1 : -1);
      }
    }
  }
  weights.of("lm_head.weight").mul_(loudness);
  return std::move(weights).model();
}

std::unique_ptr<SequenceModel> switching(const ConstructionSettings& s, Engine engine, Precision precision) {
  const std::int64_t switch_token = s.states, channel = 2 * s.states;
  Mamba2Options options = zero(s.states + 1, 2 * s.states + 1, s.states, 2);
  options.learned_decay = true;  // A_log = 0: a_t = exp(-dt_t)
  Weights weights(options, engine, precision);
  count_tokens(weights, s, 2);
  name_pairs(weights, s);
  weights.set(weights.of("embedding.weight"), switch_token, channel, 1);
  const double dt_bias = std::log(std::expm1(least_dt));
  weights.in_layer("dt_bias").fill_(dt_bias);
  weights.set(weights.in_layer("in_proj.dt.weight"), 0, channel, switch_dt - dt_bias);
  weights.in_layer("in_proj.x.weight").div_(least_dt);
  const auto lm_head = weights.of("lm_head.weight");
  lm_head.select(1, channel).narrow(0, 0, s.states).fill_(s.beta);
  lm_head.select(0, switch_token).copy_(lm_head.narrow(0, 0, s.states).sum(0) * (s.p_switch / (1 - s.p_switch)));
  lm_head.mul_(loudness);
  return std::move(weights).model();
}

}  // namespace

const std::vector<std::string>& construction_names() {
  static const std::vector<std::string> names = {"theorem1", "theorem4", "higher_order", "switching"};
  return names;
}

std::unique_ptr<SequenceModel> make_construction(const ConstructionSettings& settings, Engine engine,
                                                 Precision precision) {
  check(settings);
  if (settings.name == "theorem1") return theorem1(settings, engine, precision);
  if (settings.name == "theorem4") return theorem4(settings, engine, precision);
  if (settings.name == "higher_order") return higher_order(settings, engine, precision);
  return switching(settings, engine, precision);
}

std::unique_ptr<Estimator> estimator_of(const ConstructionSettings& settings) {
  check(settings);
  if (settings.name == "switching") return make_switching_bayes(1, settings.states, settings.beta, settings.p_switch);
  return make_add_beta(settings.order, settings.states, settings.beta);
}

}  // namespace mambarium
