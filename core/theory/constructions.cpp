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

void check(const ConstructionSettings& settings) {
  if (const auto problem = construction_problem(settings)) throw std::invalid_argument(*problem);
}

// The parameters of a one-layer model, all 0 at first, in float64.
class Weights {
 public:
  explicit Weights(SequenceModel& model) : parameters_(model.parameters()) {
    for (const Parameter& parameter : parameters_) {
      values_.push_back(torch::zeros(parameter.tensor.sizes(), torch::kFloat64));
    }
  }

  at::Tensor of(const std::string& name) const {
    const auto found = std::ranges::find(parameters_, name, &Parameter::name);
    if (found == parameters_.end()) throw std::logic_error("a construction sets " + name + ", which its model lacks");
    return values_[static_cast<std::size_t>(found - parameters_.begin())];
  }
  at::Tensor in_layer(const std::string& name) const { return of("layers.0." + name); }
  void set(at::Tensor matrix, std::int64_t row, std::int64_t column, double value) const {
    matrix.index_put_({row, column}, value);
  }

  void write() const {
    const torch::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < values_.size(); ++i) parameters_[i].tensor.copy_(values_[i]);
  }

 private:
  std::vector<Parameter>& parameters_;
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

void theorem1(const Weights& weights, const ConstructionSettings& s) {
  count_tokens(weights, s, 2);
  name_pairs(weights, s);
}

void theorem4(const Weights& weights, const ConstructionSettings& s) {
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
}

// A channel of B for every context, of C the same one token later: 1 where all tokens fit, 0 elsewhere, by ReLU.
void higher_order(const Weights& weights, const ConstructionSettings& s) {
  const std::int64_t contexts = weights.in_layer("in_proj.B.weight").size(0);
  count_tokens(weights, s, s.order + 1);
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
}

// A_log = 0: a_t = exp(-dt_t).
void switching(const Weights& weights, const ConstructionSettings& s) {
  const std::int64_t switch_token = s.states, channel = 2 * s.states;
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
}

}  // namespace

std::unique_ptr<SequenceModel> make_construction(const ConstructionSettings& settings, Engine engine,
                                                 Precision precision) {
  auto model = std::make_unique<Mamba2>(mamba2_options(construction_config(settings)), engine, precision);
  write_construction(settings, *model);
  return model;
}

void write_construction(const ConstructionSettings& settings, SequenceModel& model) {
  check(settings);
  const Weights weights(model);
  if (settings.name == "theorem1") theorem1(weights, settings);
  if (settings.name == "theorem4") theorem4(weights, settings);
  if (settings.name == "higher_order") higher_order(weights, settings);
  if (settings.name == "switching") switching(weights, settings);
  weights.of("lm_head.weight").mul_(loudness);
  weights.write();
}

std::unique_ptr<Estimator> estimator_of(const ConstructionSettings& settings) {
  check(settings);
  if (settings.name == "switching") return make_switching_bayes(1, settings.states, settings.beta, settings.p_switch);
  return make_add_beta(settings.order, settings.states, settings.beta);
}

}  // namespace mambarium
