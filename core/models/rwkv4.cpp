#include "core/models/rwkv4.h"

#include <algorithm>
#include <cmath>

#include "core/models/layered_state.h"
#include "core/models/model_tensors.h"
#include "core/models/operators.h"
#include "core/models/wkv_function.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

using State = LayeredState<Rwkv4::LayerState>;

at::Tensor normed(const at::Tensor& u, const Rwkv4Norm& norm) {
  return torch::layer_norm(u, {u.size(-1)}, norm.weight, norm.bias, operators::layer_norm_epsilon);
}

// x_{t-1} for every x_t. `past` (null: none is kept) is the row before the first, and becomes the last.
at::Tensor shifted(const at::Tensor& x, at::Tensor* past) {
  const auto before = past != nullptr && past->defined() ? *past : torch::zeros_like(x.narrow(1, 0, 1));
  if (past != nullptr) *past = x.narrow(1, x.size(1) - 1, 1).clone();
  return torch::cat({before, x.narrow(1, 0, x.size(1) - 1)}, 1);
}

}  // namespace

Rwkv4::Rwkv4(const Rwkv4Options& options, Precision precision)
    : options_(options), type_(precision == Precision::float32 ? torch::kFloat32 : torch::kFloat64) {
  const Initialiser draw(options_.seed, type_);
  const std::int64_t d_model = options_.d_model;
  if (options_.states > 0)
    embedding_ = add("embedding.weight", draw.normal("embedding.weight", {options_.states, d_model}, 0.02));
  input_norm_ = add_norm(draw, "input_norm");
  for (std::int64_t index = 0; index < options_.layers; ++index) add_layer(draw, index);
  final_norm_ = add_norm(draw, "final_norm");
  const double bound = 1.0 / std::sqrt(static_cast<double>(d_model));
  if (options_.states > 0)
    lm_head_ = add("lm_head.weight", draw.uniform("lm_head.weight", {options_.states, d_model}, bound), true);
}

at::Tensor& Rwkv4::add(const std::string& name, at::Tensor tensor, bool decayed) {
  parameters_.push_back({name, tensor.set_requires_grad(true), decayed});
  return parameters_.back().tensor;
}

Rwkv4Norm Rwkv4::add_norm(const Initialiser& draw, const std::string& name) {
  const auto weight = add(name + ".weight", draw.constant({options_.d_model}, 1));
  return {weight, add(name + ".bias", draw.constant({options_.d_model}, 0))};
}

void Rwkv4::add_layer(const Initialiser& draw, std::int64_t index) {
  const std::int64_t d_model = options_.d_model, d_ffn = options_.d_ffn();
  const double layers = static_cast<double>(options_.layers), residual = 1.0 / std::sqrt(2.0 * layers);
  const double depth = static_cast<double>(index) / std::max(layers - 1, 1.0);
  const auto linear = [&](const std::string& name, std::int64_t rows, std::int64_t columns, double scale = 1) {
    const double bound = scale / std::sqrt(static_cast<double>(columns));
    return add(name + ".weight", draw.uniform(name + ".weight", {rows, columns}, bound), true);
  };
  const auto row = [&](const std::string& name, const at::Tensor& numbers) {
    return add(name, numbers.to(torch::kFloat32).to(type_));
  };
  const auto channel = torch::arange(d_model, torch::kFloat64);
  const auto ramp = torch::pow(channel / static_cast<double>(d_model), 1 - static_cast<double>(index) / layers);
  const auto along = channel / std::max(static_cast<double>(d_model - 1), 1.0);

  Rwkv4Layer layer;
  std::string prefix = "layers." + std::to_string(index) + ".time_mix.";
  auto& time = layer.time;
  time.norm = add_norm(draw, prefix + "norm");
  time.mix_k = row(prefix + "mix_k", ramp);
  time.mix_v = row(prefix + "mix_v", ramp + 0.3 * depth);
  time.mix_r = row(prefix + "mix_r", 0.5 * ramp);
  time.log_decay = row(prefix + "log_decay", -5 + 8 * torch::pow(along, 0.7 + 1.3 * depth));
  time.bonus = row(prefix + "bonus", std::log(0.3) + 0.5 * (torch::remainder(channel + 1, 3) - 1));
  time.key = linear(prefix + "key", d_model, d_model);
  time.value = linear(prefix + "value", d_model, d_model);
  time.receptance = linear(prefix + "receptance", d_model, d_model);
  time.output = linear(prefix + "output", d_model, d_model, residual);

  prefix = "layers." + std::to_string(index) + ".channel_mix.";
  auto& mix = layer.channel;
  mix.norm = add_norm(draw, prefix + "norm");
  mix.mix_k = row(prefix + "mix_k", ramp);
  mix.mix_r = row(prefix + "mix_r", ramp);
  mix.key = linear(prefix + "key", d_ffn, d_model);
  mix.receptance = linear(prefix + "receptance", d_model, d_model);
  mix.value = linear(prefix + "value", d_model, d_ffn, residual);
  layers_.push_back(layer);
}

at::Tensor Rwkv4::time_mix(const Rwkv4Layer::TimeMix& mix, const at::Tensor& x, LayerState* state) const {
  const auto before = shifted(x, state ? &state->past_time : nullptr);
  const auto k = torch::linear(torch::lerp(before, x, mix.mix_k), mix.key);
  const auto v = torch::linear(torch::lerp(before, x, mix.mix_v), mix.value);
  const auto r = torch::sigmoid(torch::linear(torch::lerp(before, x, mix.mix_r), mix.receptance));
  const auto average =
      wkv(k, v, torch::exp(mix.log_decay), mix.bonus, state ? state->sums : at::Tensor(), options_.threads);
  if (state) state->sums = average.state;
  return torch::linear(r * average.y, mix.output);
}

at::Tensor Rwkv4::channel_mix(const Rwkv4Layer::ChannelMix& mix, const at::Tensor& x, LayerState* state) const {
  const auto before = shifted(x, state ? &state->past_channel : nullptr);
  const auto hidden = torch::relu(torch::linear(torch::lerp(before, x, mix.mix_k), mix.key)).square();
  const auto r = torch::sigmoid(torch::linear(torch::lerp(before, x, mix.mix_r), mix.receptance));
  return r * torch::linear(hidden, mix.value);
}

at::Tensor Rwkv4::through_layers(const at::Tensor& embedded, ModelState* state) const {
  State* const own = state ? &State::of(*state, embedded.size(0), layers_.size()) : nullptr;
  auto u = normed(embedded, input_norm_);
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Rwkv4Layer& layer = layers_[index];
    LayerState* const past = own ? &own->layers[index] : nullptr;
    u = u + time_mix(layer.time, normed(u, layer.time.norm), past);
    u = u + channel_mix(layer.channel, normed(u, layer.channel.norm), past);
  }
  return u;
}

at::Tensor Rwkv4::last_rows(const at::Tensor& tokens, ModelState* state) const {
  return through_layers(torch::embedding(embedding_, tokens), state);
}

at::Tensor Rwkv4::rows(const at::Tensor& u) {
  return normed(through_layers(u), final_norm_);
}

at::Tensor Rwkv4::read_out(const at::Tensor& u) const {
  return operators::read_out(torch::linear(normed(u, final_norm_), lm_head_), options_.readout);
}

at::Tensor Rwkv4::log_probabilities(const at::Tensor& tokens) {
  check_tokens(tokens, 2, options_.states, "tokens");
  return read_out(last_rows(tokens));
}

at::Tensor Rwkv4::loss(const at::Tensor& tokens, const at::Tensor& targets) {
  check_batch(tokens, targets, options_.states);
  const ScoredRows scored = scored_rows(last_rows(tokens), targets);
  return torch::nll_loss(read_out(scored.u).flatten(0, 1), scored.targets);
}

std::unique_ptr<ModelState> Rwkv4::initial_state(std::int64_t batch) {
  return std::make_unique<State>(batch, layers_.size());
}

at::Tensor Rwkv4::step(const at::Tensor& tokens, ModelState& state) {
  check_tokens(tokens, 1, options_.states, "tokens");
  return read_out(last_rows(tokens.unsqueeze(1), &state).select(1, 0));
}

at::Tensor Rwkv4::read(const at::Tensor& tokens, ModelState& state) {
  check_tokens(tokens, 2, options_.states, "tokens");
  return read_out(last_rows(tokens, &state));
}

std::vector<FilterData::Layer> Rwkv4::filters() {
  return std::vector<FilterData::Layer>(layers_.size());
}

}  // namespace mambarium
