#include "core/models/lstm.h"

#include <cmath>
#include <tuple>

#include "core/models/initialisation.h"
#include "core/models/layered_state.h"
#include "core/models/model_tensors.h"
#include "core/models/operators.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

using State = LayeredState<Lstm::LayerState>;

}  // namespace

Lstm::Lstm(const LstmOptions& options, Precision precision)
    : options_(options), type_(precision == Precision::float32 ? torch::kFloat32 : torch::kFloat64) {
  const Initialiser draw(options_.seed, type_);
  const std::int64_t d_model = options_.d_model, states = options_.states, gates = 4 * d_model;
  const double bound = 1.0 / std::sqrt(static_cast<double>(d_model));
  const auto uniform = [&](const std::string& name, const Initialiser::Shape& shape) {
    return add(name, draw.uniform(name, shape, bound), shape.size() > 1);
  };
  if (states > 0) embedding_ = add("embedding.weight", draw.normal("embedding.weight", {states, d_model}, 1));
  for (std::int64_t index = 0; index < options_.layers; ++index) {
    const std::string prefix = "layers." + std::to_string(index) + ".";
    LstmLayer layer;
    layer.input = uniform(prefix + "input.weight", {gates, d_model});
    layer.recurrent = uniform(prefix + "recurrent.weight", {gates, d_model});
    layer.input_bias = uniform(prefix + "input.bias", {gates});
    layer.recurrent_bias = uniform(prefix + "recurrent.bias", {gates});
    layers_.push_back(layer);
  }
  final_norm_ = add("final_norm.weight", draw.constant({d_model}, 1));
  final_norm_bias_ = add("final_norm.bias", draw.constant({d_model}, 0));
  if (states > 0) lm_head_ = uniform("lm_head.weight", {states, d_model});
}

at::Tensor& Lstm::add(const std::string& name, at::Tensor tensor, bool decayed) {
  parameters_.push_back({name, tensor.set_requires_grad(true), decayed});
  return parameters_.back().tensor;
}

at::Tensor Lstm::through_layers(const at::Tensor& u, ModelState* state) const {
  const auto batch = u.size(0), count = options_.layers;
  State* const own = state ? &State::of(*state, batch, layers_.size()) : nullptr;
  std::vector<at::Tensor> weights, h, c;
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const LstmLayer& layer = layers_[index];
    weights.insert(weights.end(), {layer.input, layer.recurrent, layer.input_bias, layer.recurrent_bias});
    if (own == nullptr || !own->layers[index].h.defined()) continue;
    h.push_back(own->layers[index].h);
    c.push_back(own->layers[index].c);
  }
  const auto nothing = torch::zeros({count, batch, options_.d_model}, type_);
  const std::vector<at::Tensor> before = {h.empty() ? nothing : torch::stack(h, 0),
                                          c.empty() ? nothing : torch::stack(c, 0)};
  constexpr bool has_biases = true, is_trained = false, both_ways = false, batch_first = true;
  const auto [rows, last_h, last_c] =
      torch::lstm(u, before, weights, has_biases, count, 0.0, is_trained, both_ways, batch_first);
  for (std::size_t index = 0; own != nullptr && index < layers_.size(); ++index) {
    const auto layer = static_cast<std::int64_t>(index);
    own->layers[index] = {last_h[layer].clone(), last_c[layer].clone()};
  }
  return rows;
}

at::Tensor Lstm::last_rows(const at::Tensor& tokens, ModelState* state) const {
  return through_layers(torch::embedding(embedding_, tokens), state);
}

at::Tensor Lstm::normed(const at::Tensor& h) const {
  return torch::layer_norm(h, {options_.d_model}, final_norm_, final_norm_bias_, operators::layer_norm_epsilon);
}

at::Tensor Lstm::rows(const at::Tensor& u) {
  return normed(through_layers(u));
}

at::Tensor Lstm::read_out(const at::Tensor& h) const {
  return operators::read_out(torch::linear(normed(h), lm_head_), options_.readout);
}

at::Tensor Lstm::log_probabilities(const at::Tensor& tokens) {
  check_tokens(tokens, 2, options_.states, "tokens");
  return read_out(last_rows(tokens));
}

at::Tensor Lstm::loss(const at::Tensor& tokens, const at::Tensor& targets) {
  check_batch(tokens, targets, options_.states);
  const ScoredRows scored = scored_rows(last_rows(tokens), targets);
  return torch::nll_loss(read_out(scored.u).flatten(0, 1), scored.targets);
}

std::unique_ptr<ModelState> Lstm::initial_state(std::int64_t batch) {
  return std::make_unique<State>(batch, layers_.size());
}

at::Tensor Lstm::step(const at::Tensor& tokens, ModelState& state) {
  check_tokens(tokens, 1, options_.states, "tokens");
  return read_out(last_rows(tokens.unsqueeze(1), &state).select(1, 0));
}

at::Tensor Lstm::read(const at::Tensor& tokens, ModelState& state) {
  check_tokens(tokens, 2, options_.states, "tokens");
  return read_out(last_rows(tokens, &state));
}

std::vector<FilterData::Layer> Lstm::filters() {
  return std::vector<FilterData::Layer>(layers_.size());
}

}  // namespace mambarium
