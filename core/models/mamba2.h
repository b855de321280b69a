// Mamba2: the sequence model of paper 1, kinds mamba2 and mamba_zero, on either engine, and Motif-Mamba (paper 2) on
// it, in which the states of a channel are coupled.
//
//   u = embedding(token);  per layer  u += mixer(norm(u)),  u += mlp(norm(u));  log p = read_out(lm_head(norm(u)))
//   mixer: [z, x, B, C, dt] = in_proj u;  x, B, C = act(conv(.));  dt = softplus(dt + dt_bias);  a = exp(-exp(A_log)
//   dt)
//          y = scan(x, dt, a, B, C) + D x;  out_proj(norm(y) * act(z))
//   scan:  H_t = a_t H_{t-1} + w_t (H_{t-1} Q^T) (k P)^T + (dt_t x_t) B_t^T,  y_t = H_t C_t,  for each head [P, N]
//
// The middle term is the coupling: each channel's row of N states on its own, as in Mamba-1 (core/kernels/
// coupled_scan.h), with w_t = dt_t (euler) or (1 - a_t) exp(-A_log) (etd; dt_t where a_t = 1). With it a model goes
// block by block and the scan token by token, a head's dt and A repeated for its channels. At k = 0 it is plain
// Mamba-2: in that order of sums bit for bit (the operators' or the kernels' diagonal_scan), against the plain model,
// whose scan adds in chunks, to the rounding of either engine.
//
// Every segment of in_proj and of the convolution is a parameter of its own, as is each half of the gated MLP's fc1: a
// part that is off has no parameter, and those that remain keep their names and so their initial values. Names:
//   embedding.weight  layers.0.norm.weight  layers.0.in_proj.{z,x,B,C,dt}.weight  layers.0.conv.{x,B,C}.{weight,bias}
//   layers.0.{dt_bias,A_log,D}  layers.0.coupling.{P,Q,k}  layers.0.y_norm.weight  layers.0.out_proj.weight
//   layers.0.mlp_norm.weight  layers.0.mlp.{fc1,fc1_gate,fc2}.weight  final_norm.weight  lm_head.weight
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "core/kernels/whole_model.h"
#include "core/models/coupled_layers.h"
#include "core/models/initialisation.h"
#include "core/models/mamba2_options.h"
#include "core/models/parameter.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// The weights of one block; undefined where the part is off. A convolution has a filter [w] and a bias for every
// channel, or, with Filters::shared and fixed, one of each: [1, w] and [1].
struct Mamba2Layer {
  at::Tensor norm, in_z, in_x, in_B, in_C, in_dt;
  at::Tensor conv_x, conv_x_bias, conv_B, conv_B_bias, conv_C, conv_C_bias;
  at::Tensor dt_bias, A_log, D, y_norm, out_proj;
  at::Tensor mlp_norm, fc1, fc1_gate, fc2;
  LayerCoupling coupling;
};

class Mamba2 final : public SequenceModel, public CoupledLayers {
 public:
  Mamba2(const Mamba2Options& options, Engine engine, Precision precision);

  std::vector<Parameter>& parameters() override { return parameters_; }
  WholeModelPlan whole_model_plan(std::int64_t batch, std::int64_t length) const override;
  at::Tensor log_probabilities(const at::Tensor& tokens) override;
  at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets) override;
  at::Tensor rows(const at::Tensor& u) override;
  std::unique_ptr<ModelState> initial_state(std::int64_t batch) override;
  at::Tensor step(const at::Tensor& tokens, ModelState& state) override;
  Tensor decay_factors(std::span<const std::int32_t> tokens) override;
  std::vector<FilterData::Layer> filters() override;
  std::pair<at::Tensor, at::Tensor> projections(const at::Tensor& tokens, std::int64_t layer) override;

  CoupledModel* coupled() override { return options_.coupling.rank > 0 ? this : nullptr; }
  at::Tensor embedded(const at::Tensor& tokens) override;

  std::int64_t channels() const override { return options_.d_inner(); }
  ChannelTrace trace(const at::Tensor& u, std::int64_t layer, std::int64_t channel) override;

  const Mamba2Options& options() const { return options_; }

 private:
  void add_layer(const Initialiser& draw, const std::string& prefix);
  at::Tensor& add(const std::string& name, at::Tensor tensor, bool decayed = false);
  at::Tensor through_blocks(at::Tensor u) const;
  at::Tensor last_rows(const at::Tensor& tokens) const;  // u after the last block
  at::Tensor normed(const at::Tensor& u) const;
  at::Tensor read_out(const at::Tensor& u) const;  // log-probabilities
  const CouplingOptions& coupling_settings() const override { return options_.coupling; }
  std::vector<LayerCoupling> layer_couplings() const override;
  at::Tensor slowest_decays(std::int64_t layer) const override;

  Mamba2Options options_;
  Engine engine_;
  at::ScalarType type_;
  at::Tensor embedding_, final_norm_, lm_head_;
  std::vector<Mamba2Layer> layers_;
  std::vector<Parameter> parameters_;
  kernels::WholeModelWorkspace workspace_;
};

}  // namespace mambarium
