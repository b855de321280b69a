#include "core/models/transformer.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "core/models/attention.h"
#include "core/models/layered_state.h"
#include "core/models/model_tensors.h"
#include "core/models/operators.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

using State = LayeredState<Transformer::LayerState>;

at::Tensor appended(const at::Tensor& past, const at::Tensor& rows) {
  return past.defined() ? torch::cat({past, rows}, 1) : rows;
}

}  // namespace

Transformer::Transformer(const TransformerOptions& options, Precision precision)
    : options_(options), type_(precision == Precision::float32 ? torch::kFloat32 : torch::kFloat64) {
  if (options_.d_model % options_.head_width() != 0) {
    throw std::invalid_argument("model.headdim: " + std::to_string(options_.headdim) +
                                " does not divide d_model = " + std::to_string(options_.d_model));
  }
  const Initialiser draw(options_.seed, type_);
  const auto drawn = [&](const std::string& name, std::int64_t rows) {
    return add(name, draw.normal(name, {rows, options_.d_model}, 0.02));
  };
  if (options_.states > 0) embedding_ = drawn("embedding.weight", options_.states);
  if (options_.learned_positions) positions_ = drawn("positions.weight", options_.positions);
  for (std::int64_t index = 0; index < options_.layers; ++index) {
    add_layer(draw, "layers." + std::to_string(index) + ".");
  }
  final_norm_ = add("final_norm.weight", draw.constant({options_.d_model}, 1));
  if (options_.states > 0) lm_head_bias_ = add("lm_head.bias", draw.constant({options_.states}, 0));
}

at::Tensor& Transformer::add(const std::string& name, at::Tensor tensor, bool decayed) {
  parameters_.push_back({name, tensor.set_requires_grad(true), decayed});
  return parameters_.back().tensor;
}

void Transformer::add_layer(const Initialiser& draw, const std::string& prefix) {
  const std::int64_t d_model = options_.d_model, hidden = 4 * d_model;
  const double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(options_.layers));
  const auto linear = [&](const std::string& part, std::int64_t rows, std::int64_t columns, double deviation = 0.02) {
    const std::string name = prefix + part + ".weight";
    return add(name, draw.normal(name, {rows, columns}, deviation), true);
  };
  const auto norm = [&](const std::string& part) {
    return add(prefix + part + ".weight", draw.constant({d_model}, 1));
  };
  const auto input = [&](const std::string& part, bool convolved) {
    AttentionInput result{linear("attention." + part, d_model, d_model), {}};
    if (convolved) {
      const std::string name = prefix + "conv." + part + ".weight";
      const double bound = 1.0 / std::sqrt(static_cast<double>(options_.d_conv));
      result.filter = add(name, draw.uniform(name, {d_model, options_.d_conv}, bound));
    }
    return result;
  };

  TransformerLayer layer;
  layer.norm = norm("norm");
  layer.Q = input("Q", options_.conv_Q);
  layer.K = input("K", options_.conv_K);
  layer.V = input("V", options_.conv_V);
  layer.out = linear("attention.out", d_model, d_model, residual);
  layer.mlp_norm = norm("mlp_norm");
  layer.fc1 = linear("mlp.fc1", hidden, d_model);
  layer.fc2 = linear("mlp.fc2", d_model, hidden, residual);
  layers_.push_back(layer);
}

at::Tensor Transformer::placed(const at::Tensor& embedded, std::int64_t first) const {
  const std::int64_t length = embedded.size(1);
  if (!options_.learned_positions) return embedded + waves(first, length);
  if (first + length > options_.positions) {
    throw std::invalid_argument("tokens: a sequence of " + std::to_string(first + length) +
                                " tokens is longer than this transformer's " + std::to_string(options_.positions) +
                                " learned positions (task.length)");
  }
  return embedded + positions_.narrow(0, first, length);
}

at::Tensor Transformer::embed(const at::Tensor& tokens, std::int64_t first) const {
  return placed(torch::embedding(embedding_, tokens), first);
}

// Computed in double, so that position 16,384 is as exact as position 1.
at::Tensor Transformer::waves(std::int64_t first, std::int64_t length) const {
  const auto place = torch::arange(first, first + length, torch::kFloat64).unsqueeze(1);
  const auto pairs = torch::arange((options_.d_model + 1) / 2, torch::kFloat64);
  const auto angles = place * torch::pow(1e4, -2.0 * pairs / static_cast<double>(options_.d_model));
  const auto all = torch::stack({angles.sin(), angles.cos()}, -1).flatten(1).narrow(1, 0, options_.d_model);
  constexpr double as_large_as_learned = 0.02 * std::numbers::sqrt2;
  return (as_large_as_learned * all).to(type_);
}

at::Tensor Transformer::attend(const TransformerLayer& layer, const at::Tensor& u, LayerState* state) const {
  const std::int64_t batch = u.size(0), heads = options_.heads();
  const auto projected = torch::linear(u, torch::cat({layer.Q.weight, layer.K.weight, layer.V.weight}, 0)).chunk(3, -1);
  const auto by_head = [&](const at::Tensor& rows, const AttentionInput& input, at::Tensor* past) {
    const auto convolved =
        input.filter.defined() ? operators::continued_convolution(rows, input.filter, {}, past) : rows;
    return convolved.unflatten(-1, {heads, options_.head_width()}).transpose(1, 2).flatten(0, 1);
  };
  const auto q = by_head(projected[0], layer.Q, state ? &state->past_Q : nullptr);
  const auto k = by_head(projected[1], layer.K, state ? &state->past_K : nullptr);
  const auto v = by_head(projected[2], layer.V, state ? &state->past_V : nullptr);

  at::Tensor y;
  if (options_.attention == Attention::linear) {
    const auto result = operators::linear_attention(q, k, v, state ? state->sums : at::Tensor());
    if (state) state->sums = result.state;
    y = result.y;
  } else if (state) {
    state->keys = appended(state->keys, k);
    state->values = appended(state->values, v);
    y = operators::softmax_attention(q, state->keys, state->values);
  } else {
    y = operators::softmax_attention(q, k, v);
  }
  return torch::linear(y.unflatten(0, {batch, heads}).transpose(1, 2).flatten(-2), layer.out);
}

at::Tensor Transformer::block(const TransformerLayer& layer, const at::Tensor& u, LayerState* state) const {
  const auto mixed = u + attend(layer, operators::layer_norm(u, layer.norm), state);
  const auto hidden = torch::gelu(torch::linear(operators::layer_norm(mixed, layer.mlp_norm), layer.fc1));
  return mixed + torch::linear(hidden, layer.fc2);
}

at::Tensor Transformer::read_out(const at::Tensor& u) const {
  const auto logits = torch::linear(operators::layer_norm(u, final_norm_), embedding_, lm_head_bias_);
  return operators::read_out(logits, options_.readout);
}

at::Tensor Transformer::through_blocks(at::Tensor u) const {
  for (const TransformerLayer& layer : layers_) u = block(layer, u, nullptr);
  return u;
}

at::Tensor Transformer::last_rows(const at::Tensor& tokens) const {
  return through_blocks(embed(tokens, 0));
}

at::Tensor Transformer::rows(const at::Tensor& u) {
  return operators::layer_norm(through_blocks(placed(u, 0)), final_norm_);
}

at::Tensor Transformer::log_probabilities(const at::Tensor& tokens) {
  check_tokens(tokens, 2, options_.states, "tokens");
  return read_out(last_rows(tokens));
}

at::Tensor Transformer::loss(const at::Tensor& tokens, const at::Tensor& targets) {
  check_batch(tokens, targets, options_.states);
  const ScoredRows scored = scored_rows(last_rows(tokens), targets);
  return torch::nll_loss(read_out(scored.u).flatten(0, 1), scored.targets);
}

std::unique_ptr<ModelState> Transformer::initial_state(std::int64_t batch) {
  return std::make_unique<State>(batch, layers_.size());
}

at::Tensor Transformer::step(const at::Tensor& tokens, ModelState& state) {
  check_tokens(tokens, 1, options_.states, "tokens");
  return read(tokens.unsqueeze(1), state).select(1, 0);
}

at::Tensor Transformer::read(const at::Tensor& tokens, ModelState& state) {
  check_tokens(tokens, 2, options_.states, "tokens");
  auto& own = State::of(state, tokens.size(0), layers_.size());
  auto u = embed(tokens, own.tokens);
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    u = block(layers_[index], u, &own.layers[index]);
  }
  own.tokens += tokens.size(1);
  return read_out(u);
}

std::vector<FilterData::Layer> Transformer::filters() {
  std::vector<FilterData::Layer> layers;
  for (const TransformerLayer& layer : layers_) {
    auto& filters = layers.emplace_back();
    for (const auto& [name, input] : {std::pair{"Q", &layer.Q}, {"K", &layer.K}, {"V", &layer.V}}) {
      if (input->filter.defined()) filters.push_back({name, plain_tensor(input->filter), plain_tensor({})});
    }
  }
  return layers;
}

}  // namespace mambarium
