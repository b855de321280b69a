#include "core/models/mamba1.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/models/kernel_functions.h"
#include "core/models/layered_state.h"
#include "core/models/model_tensors.h"
#include "core/models/operators.h"
#include "core/models/picard_scan.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

using State = LayeredState<Mamba1::LayerState>;

// The largest difference in parts of the largest expected number; 0 where nothing differs.
double relative_difference(const at::Tensor& found, const at::Tensor& expected) {
  const double difference = (found - expected).abs().max().item<double>();
  return difference == 0 ? 0 : difference / expected.abs().max().item<double>();
}

at::Tensor normed(const at::Tensor& u, const at::Tensor& weight, const at::Tensor& bias) {
  if (!weight.defined()) return u;
  return torch::layer_norm(u, {u.size(-1)}, weight, bias, operators::layer_norm_epsilon);
}

}  // namespace

std::vector<at::Tensor> Mamba1::LayerState::hidden() const {
  return h.defined() ? std::vector{h.unsqueeze(2)} : std::vector<at::Tensor>{};
}

Mamba1::Mamba1(const Mamba1Options& options, Engine engine, Precision precision)
    : options_(options), engine_(engine), type_(precision == Precision::float32 ? torch::kFloat32 : torch::kFloat64) {
  if (engine_ == Engine::fused && type_ != torch::kFloat32) {
    throw std::invalid_argument("the fused engine computes in float32; float64 needs the torch engine");
  }
  const Initialiser draw(options_.seed, type_);
  const std::int64_t d_model = options_.d_model;
  if (options_.states > 0)
    embedding_ = add("embedding.weight", draw.normal("embedding.weight", {options_.states, d_model}, 0.02));
  for (std::int64_t index = 0; index < options_.layers; ++index) {
    add_layer(draw, "layers." + std::to_string(index) + ".");
  }
  if (options_.norm) {
    final_norm_ = add("final_norm.weight", draw.constant({d_model}, 1));
    final_norm_bias_ = add("final_norm.bias", draw.constant({d_model}, 0));
  }
  const double bound = 1.0 / std::sqrt(static_cast<double>(d_model));
  if (options_.states > 0)
    lm_head_ = add("lm_head.weight", draw.uniform("lm_head.weight", {options_.states, d_model}, bound), true);
}

at::Tensor& Mamba1::add(const std::string& name, at::Tensor tensor, bool decayed) {
  parameters_.push_back({name, tensor.set_requires_grad(true), decayed});
  return parameters_.back().tensor;
}

void Mamba1::add_layer(const Initialiser& draw, const std::string& prefix) {
  const std::int64_t d_model = options_.d_model, inner = options_.d_inner(), d_state = options_.d_state;
  const auto linear = [&](const std::string& part, std::int64_t rows, std::int64_t columns, double scale = 1) {
    const std::string name = prefix + part + ".weight";
    return add(name, draw.uniform(name, {rows, columns}, scale / std::sqrt(static_cast<double>(columns))), true);
  };
  Mamba1Layer layer;
  if (options_.norm) {
    layer.norm = add(prefix + "norm.weight", draw.constant({d_model}, 1));
    layer.norm_bias = add(prefix + "norm.bias", draw.constant({d_model}, 0));
  }
  layer.in_x = linear("in_proj.x", inner, d_model);
  if (options_.gate) layer.in_z = linear("in_proj.z", inner, d_model);
  if (options_.conv) {
    const std::string name = prefix + "conv.x";
    const double bound = 1.0 / std::sqrt(static_cast<double>(options_.d_conv));
    layer.conv = add(name + ".weight", draw.uniform(name + ".weight", {inner, options_.d_conv}, bound));
    layer.conv_bias = add(name + ".bias", draw.uniform(name + ".bias", {inner}, bound));
  }
  layer.x_dt = linear("x_proj.dt", options_.dt_rank(), inner);
  layer.x_B = linear("x_proj.B", d_state, inner);
  layer.x_C = linear("x_proj.C", d_state, inner);
  layer.dt_proj = linear("dt_proj", inner, options_.dt_rank());
  layer.dt_bias = add(prefix + "dt_bias", draw.dt_bias(prefix + "dt_bias", inner));
  if (options_.learned_decay) {
    const auto rates = torch::arange(1, d_state + 1, torch::kFloat64).log().to(torch::kFloat32).to(type_);
    layer.A_log = add(prefix + "A_log", rates.expand({inner, d_state}).contiguous());
  }
  if (options_.skip) layer.D = add(prefix + "D", draw.constant({inner}, 1));
  layer.coupling = initial_coupling(options_.coupling, draw, prefix, inner, d_state);
  for (const auto& [name, tensor] : layer.coupling.named(prefix)) add(name, tensor);
  layer.out_proj = linear("out_proj", d_model, inner, 1.0 / std::sqrt(2.0 * static_cast<double>(options_.layers)));
  layers_.push_back(layer);
}

operators::ScanResult Mamba1::scan(const Mamba1Layer& layer, const Taken& taken, const at::Tensor& h0) const {
  const auto& [x, dt, B, C] = taken;
  const bool is_fused = engine_ == Engine::fused;
  const auto A = layer.A_log.defined() ? -torch::exp(layer.A_log)
                                       : torch::zeros({options_.d_inner(), options_.d_state}, x.options());
  if (!layer.coupling.defined())
    return is_fused ? fused::diagonal_scan(x, dt, B, C, A, h0, options_.threads)
                    : operators::diagonal_scan(x, dt, B, C, A, h0);
  const auto form = options_.coupling.form();
  const auto P = layer.coupling.scaled_P(), Q = layer.coupling.Q;
  const auto exact = is_fused ? fused::coupled_scan(x, dt, B, C, A, P, Q, form, h0, options_.threads)
                              : operators::coupled_scan(x, dt, B, C, A, P, Q, form, h0);
  if (!picard_) return exact;
  const auto found = picard_scan(x, dt, B, C, A, P, Q, form, picard_->passes, h0);
  picard_->output_error = std::max(picard_->output_error, relative_difference(found.y, exact.y));
  picard_->state_error = std::max(picard_->state_error, relative_difference(found.state, exact.state));
  return found;
}

at::Tensor Mamba1::mixer(const Mamba1Layer& layer, const at::Tensor& u, LayerState* state, Taken* taken) const {
  const std::int64_t inner = options_.d_inner(), d_state = options_.d_state, low = options_.dt_rank();
  const auto projected = torch::linear(u, options_.gate ? torch::cat({layer.in_x, layer.in_z}, 0) : layer.in_x);
  const auto raw = projected.narrow(-1, 0, inner);
  const bool is_fused = engine_ == Engine::fused;
  at::Tensor x;
  if (!layer.conv.defined()) {
    x = operators::activate(raw, options_.activation);
  } else if (is_fused && state == nullptr) {
    x = fused::causal_convolution(raw, layer.conv, layer.conv_bias, options_.activation, options_.threads);
  } else {
    at::Tensor* const past = state ? &state->past_x : nullptr;
    x = operators::activate(operators::continued_convolution(raw, layer.conv, layer.conv_bias, past),
                            options_.activation);
  }
  const auto selected = torch::linear(x, torch::cat({layer.x_dt, layer.x_B, layer.x_C}, 0));
  const auto B = selected.narrow(-1, low, d_state), C = selected.narrow(-1, low + d_state, d_state);
  const auto dt = torch::softplus(torch::linear(selected.narrow(-1, 0, low), layer.dt_proj, layer.dt_bias));
  if (taken != nullptr) *taken = {x, dt, B, C};

  const auto scanned = scan(layer, {x, dt, B, C}, state ? state->h : at::Tensor());
  if (state != nullptr) state->h = scanned.state;
  auto y = options_.skip ? torch::addcmul(scanned.y, layer.D, x) : scanned.y;
  if (options_.gate) y = y * operators::activate(projected.narrow(-1, inner, inner), options_.activation);
  return torch::linear(y, layer.out_proj);
}

at::Tensor Mamba1::block(const Mamba1Layer& layer, const at::Tensor& u, LayerState* state, Taken* taken) const {
  return u + mixer(layer, normed(u, layer.norm, layer.norm_bias), state, taken);
}

at::Tensor Mamba1::through_blocks(at::Tensor u, ModelState* state) const {
  State* const own = state ? &State::of(*state, u.size(0), layers_.size()) : nullptr;
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    u = block(layers_[index], u, own ? &own->layers[index] : nullptr);
  }
  return u;
}

at::Tensor Mamba1::last_rows(const at::Tensor& tokens, ModelState* state) const {
  return through_blocks(torch::embedding(embedding_, tokens), state);
}

at::Tensor Mamba1::rows(const at::Tensor& u) {
  return normed(through_blocks(u), final_norm_, final_norm_bias_);
}

at::Tensor Mamba1::read_out(const at::Tensor& u) const {
  return operators::read_out(torch::linear(normed(u, final_norm_, final_norm_bias_), lm_head_), options_.readout);
}

at::Tensor Mamba1::log_probabilities(const at::Tensor& tokens) {
  check_tokens(tokens, 2, options_.states, "tokens");
  return read_out(last_rows(tokens));
}

at::Tensor Mamba1::loss(const at::Tensor& tokens, const at::Tensor& targets) {
  check_batch(tokens, targets, options_.states);
  const ScoredRows scored = scored_rows(last_rows(tokens), targets);
  return torch::nll_loss(read_out(scored.u).flatten(0, 1), scored.targets);
}

std::unique_ptr<ModelState> Mamba1::initial_state(std::int64_t batch) {
  return std::make_unique<State>(batch, layers_.size());
}

at::Tensor Mamba1::step(const at::Tensor& tokens, ModelState& state) {
  check_tokens(tokens, 1, options_.states, "tokens");
  return read_out(last_rows(tokens.unsqueeze(1), &state).select(1, 0));
}

at::Tensor Mamba1::read(const at::Tensor& tokens, ModelState& state) {
  check_tokens(tokens, 2, options_.states, "tokens");
  return read_out(last_rows(tokens, &state));
}

std::vector<FilterData::Layer> Mamba1::filters() {
  std::vector<FilterData::Layer> layers;
  for (const Mamba1Layer& layer : layers_) {
    auto& filters = layers.emplace_back();
    if (layer.conv.defined()) filters.push_back({"x", plain_tensor(layer.conv), plain_tensor(layer.conv_bias)});
  }
  return layers;
}

at::Tensor Mamba1::embedded(const at::Tensor& tokens) {
  check_tokens(tokens, 2, options_.states, "tokens");
  return torch::embedding(embedding_, tokens);
}

Mamba1::Taken Mamba1::taken_by(at::Tensor u, std::int64_t layer) const {
  check_place(layer, options_.layers, "layer");
  Taken taken;
  for (std::int64_t index = 0; index <= layer; ++index) {
    u = block(layers_[static_cast<std::size_t>(index)], u, nullptr, &taken);
  }
  return taken;
}

std::pair<at::Tensor, at::Tensor> Mamba1::projections(const at::Tensor& tokens, std::int64_t layer) {
  const torch::NoGradGuard no_gradients;
  const Taken taken = taken_by(embedded(tokens), layer);
  return {taken.B, taken.C};
}

at::Tensor Mamba1::slowest_decays(std::int64_t layer) const {
  return torch::exp(layers_[static_cast<std::size_t>(layer)].A_log).amin(1);
}

std::vector<LayerCoupling> Mamba1::layer_couplings() const {
  std::vector<LayerCoupling> all;
  for (const Mamba1Layer& layer : layers_) all.push_back(layer.coupling);
  return all;
}

ChannelTrace Mamba1::trace(const at::Tensor& u, std::int64_t layer, std::int64_t channel) {
  const torch::NoGradGuard no_gradients;
  check_shape(u, "u", type_, {1, u.dim() == 3 ? u.size(1) : 1, options_.d_model});
  check_place(channel, channels(), "channel");
  const Taken taken = taken_by(u, layer);
  const Mamba1Layer& own = layers_[static_cast<std::size_t>(layer)];
  const auto A = own.A_log.defined() ? -torch::exp(own.A_log.to(torch::kFloat64)[channel])
                                     : torch::zeros({options_.d_state}, torch::kFloat64);
  const auto of_channel = [&](const at::Tensor& rows) { return rows.narrow(-1, channel, 1); };
  return channel_trace(options_.coupling, own.coupling, channel,
                       {of_channel(taken.x), of_channel(taken.dt), taken.B, A}, engine_);
}

}  // namespace mambarium
