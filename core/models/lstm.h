// Lstm: the long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000), a
// recurrent baseline of paper 2.
//
//   x = embedding(token);  per layer  x = h of
//     [i, f, g, o] = W_ih x_t + b_ih + W_hh h_{t-1} + b_hh
//     c_t = sigmoid(f) c_{t-1} + sigmoid(i) tanh(g),  h_t = sigmoid(o) tanh(c_t),  h_{-1} = c_{-1} = 0
//   log p = read_out(lm_head(norm(x)))
//
// Every layer is d_model wide, without a residual path; the norm before the read-out, a layer norm with bias, is the
// only one; the read-out has no bias. Weights and biases of a layer start uniform in 1/sqrt(d_model), as does lm_head.
// The embedding starts N(0, 1), as nothing norms it before the first layer. Names:
//   embedding.weight  layers.0.{input,recurrent}.{weight,bias}  final_norm.{weight,bias}  lm_head.weight
// with the rows of input (W_ih) and recurrent (W_hh) [4 d_model, d_model] in the order i, f, g, o. Computed by
// LibTorch. The state is h and c of every layer, however long the sequence: memory of read() is that of its own tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <string>
#include <vector>

#include "core/models/lstm_options.h"
#include "core/models/parameter.h"
#include "core/models/sequence_model.h"

namespace mambarium {

struct LstmLayer {
  at::Tensor input, recurrent, input_bias, recurrent_bias;  // W_ih, W_hh [4 d_model, d_model], b_ih, b_hh [4 d_model]
};

class Lstm final : public SequenceModel {
 public:
  // What a layer remembers between two calls; undefined before the first token.
  struct LayerState {
    at::Tensor h, c;  // [b, d_model]
    std::array<at::Tensor*, 2> tensors() { return {&h, &c}; }
  };

  Lstm(const LstmOptions& options, Precision precision);

  std::vector<Parameter>& parameters() override { return parameters_; }
  at::Tensor log_probabilities(const at::Tensor& tokens) override;
  at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets) override;
  at::Tensor rows(const at::Tensor& u) override;
  std::unique_ptr<ModelState> initial_state(std::int64_t batch) override;
  at::Tensor step(const at::Tensor& tokens, ModelState& state) override;
  at::Tensor read(const at::Tensor& tokens, ModelState& state) override;
  std::vector<FilterData::Layer> filters() override;

 private:
  at::Tensor& add(const std::string& name, at::Tensor tensor, bool decayed = false);
  at::Tensor through_layers(const at::Tensor& u, ModelState* state = nullptr) const;  // h of the last layer
  at::Tensor last_rows(const at::Tensor& tokens, ModelState* state = nullptr) const;
  at::Tensor normed(const at::Tensor& h) const;
  at::Tensor read_out(const at::Tensor& h) const;

  LstmOptions options_;
  at::ScalarType type_;
  at::Tensor embedding_, final_norm_, final_norm_bias_, lm_head_;
  std::vector<LstmLayer> layers_;
  std::vector<Parameter> parameters_;
};

}  // namespace mambarium
