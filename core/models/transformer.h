// Transformer: the baseline of paper 1, a small GPT-2, with softmax or linear attention.
//
//   u_t = embedding(token_t) + positions_t, learned, or 0.02 sqrt(2) times sin and cos of
//   t / 10000^(2i/d), for any length;  per layer  u += attention(norm(u)),  u += fc2 gelu(fc1 norm(u))
//   attention: Q, K, V = conv(W u) where it is on, else W u;  out(attention per head);  core/models/attention.h
//   log p = read_out(embedding norm(u) + lm_head.bias): the read-out shares the embedding's weights
//
// Norms are layer norms without bias; the convolution is depthwise and causal, without bias; no map but the read-out
// has a bias. Weights start as N(0, 0.02^2), out and fc2 as N(0, 0.02^2 / (2 layers)), convolutions as Mamba2's. Names:
//   embedding.weight  positions.weight  layers.0.norm.weight  layers.0.attention.{Q,K,V,out}.weight
//   layers.0.conv.{Q,K,V}.weight  layers.0.mlp_norm.weight  layers.0.mlp.{fc1,fc2}.weight  final_norm.weight
//   lm_head.bias
// Everything is computed by LibTorch operators. A sequence of more tokens than there are learned positions is refused
// with std::invalid_argument. The state of step() holds the keys and values of all tokens so far (linear attention:
// their sums).
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <string>
#include <vector>

#include "core/models/initialisation.h"
#include "core/models/parameter.h"
#include "core/models/sequence_model.h"
#include "core/models/transformer_options.h"

namespace mambarium {

// What passes through a convolution on its way into attention. The filter is undefined where there is none.
struct AttentionInput {
  at::Tensor weight, filter;  // [d_model, d_model], [d_model, w]
};

struct TransformerLayer {
  at::Tensor norm;
  AttentionInput Q, K, V;
  at::Tensor out, mlp_norm, fc1, fc2;
};

class Transformer final : public SequenceModel {
 public:
  // What a layer remembers between two calls. Undefined members stand for nothing.
  struct LayerState {
    at::Tensor past_Q, past_K, past_V;  // [b, w-1, d_model] where there is a convolution
    at::Tensor keys, values;            // [b heads, tokens so far, head width]
    at::Tensor sums;                    // of linear attention
    std::array<at::Tensor*, 6> tensors() { return {&past_Q, &past_K, &past_V, &keys, &values, &sums}; }
  };

  Transformer(const TransformerOptions& options, Precision precision);

  std::vector<Parameter>& parameters() override { return parameters_; }
  at::Tensor log_probabilities(const at::Tensor& tokens) override;
  at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets) override;
  at::Tensor rows(const at::Tensor& u) override;
  std::unique_ptr<ModelState> initial_state(std::int64_t batch) override;
  at::Tensor step(const at::Tensor& tokens, ModelState& state) override;
  at::Tensor read(const at::Tensor& tokens, ModelState& state) override;
  std::vector<FilterData::Layer> filters() override;

 private:
  void add_layer(const Initialiser& draw, const std::string& prefix);
  at::Tensor& add(const std::string& name, at::Tensor tensor, bool decayed = false);
  at::Tensor placed(const at::Tensor& embedded, std::int64_t first) const;  // with the vectors of their positions
  at::Tensor embed(const at::Tensor& tokens, std::int64_t first) const;
  at::Tensor through_blocks(at::Tensor u) const;
  at::Tensor waves(std::int64_t first, std::int64_t length) const;
  at::Tensor attend(const TransformerLayer& layer, const at::Tensor& u, LayerState* state) const;
  at::Tensor block(const TransformerLayer& layer, const at::Tensor& u, LayerState* state) const;
  at::Tensor read_out(const at::Tensor& u) const;
  at::Tensor last_rows(const at::Tensor& tokens) const;  // u after the last block

  TransformerOptions options_;
  at::ScalarType type_;
  at::Tensor embedding_, positions_, final_norm_, lm_head_bias_;
  std::vector<TransformerLayer> layers_;
  std::vector<Parameter> parameters_;
};

}  // namespace mambarium
