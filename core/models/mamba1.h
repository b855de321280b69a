// Mamba1: the selective state space of Gu and Dao (2023), and Motif-Mamba (paper 2), in which the states of a channel
// are coupled.
//
//   u = embedding(token);  per layer  u += mixer(norm(u));  log p = read_out(lm_head(norm(u)))
//   mixer: [x, z] = in_proj u;  x = act(conv(x));  [s, B, C] = x_proj x;  dt = softplus(dt_proj s + dt_bias)
//          h_t = exp(dt_t A) . h_{t-1} + coupling + dt_t x_t B_t,  A = -exp(A_log), a number for each channel and state
//          y = <C, h> + D x;  out_proj(y * act(z))
//   coupling: k P (Q h_{t-1}) times dt_t (euler) or (1 - exp(dt_t A)) / -A (etd); core/kernels/coupled_scan.h
//
// Norms have a bias, as the second paper's models do. Weights of maps are uniform in 1/sqrt(columns), out_proj's
// divided by sqrt(2 layers); A_log = log(1 .. N); dt_bias so that dt is log-uniform in 1e-3 .. 1e-1. A part that is off
// has no parameter and the others keep their names and so their initial values. Names:
//   embedding.weight  layers.0.norm.{weight,bias}  layers.0.in_proj.{x,z}.weight  layers.0.conv.x.{weight,bias}
//   layers.0.x_proj.{dt,B,C}.weight  layers.0.dt_proj.weight  layers.0.{dt_bias,A_log,D}  layers.0.coupling.{P,Q,k}
//   layers.0.out_proj.weight  final_norm.{weight,bias}  lm_head.weight
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/models/coupled_layers.h"
#include "core/models/initialisation.h"
#include "core/models/mamba1_options.h"
#include "core/models/operators.h"
#include "core/models/parameter.h"
#include "core/models/sequence_model.h"

namespace mambarium {

struct Mamba1Layer {
  at::Tensor norm, norm_bias, in_x, in_z, conv, conv_bias;
  at::Tensor x_dt, x_B, x_C, dt_proj, dt_bias, A_log, D, out_proj;
  LayerCoupling coupling;
};

class Mamba1 final : public SequenceModel, public CoupledLayers {
 public:
  // What a layer remembers between two calls.
  struct LayerState {
    at::Tensor past_x;  // [b, w-1, d_inner] where there is a convolution
    at::Tensor h;       // [b, d_inner, N]
    std::array<at::Tensor*, 2> tensors() { return {&past_x, &h}; }
    std::vector<at::Tensor> hidden() const;  // [b, d_inner, 1, N]: every channel is a head
    std::array<at::Tensor, 1> windows() const { return {past_x}; }
  };

  Mamba1(const Mamba1Options& options, Engine engine, Precision precision);

  std::vector<Parameter>& parameters() override { return parameters_; }
  at::Tensor log_probabilities(const at::Tensor& tokens) override;
  at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets) override;
  at::Tensor rows(const at::Tensor& u) override;
  std::unique_ptr<ModelState> initial_state(std::int64_t batch) override;
  at::Tensor step(const at::Tensor& tokens, ModelState& state) override;
  at::Tensor read(const at::Tensor& tokens, ModelState& state) override;
  std::vector<FilterData::Layer> filters() override;
  std::pair<at::Tensor, at::Tensor> projections(const at::Tensor& tokens, std::int64_t layer) override;
  CoupledModel* coupled() override { return options_.coupling.rank > 0 ? this : nullptr; }
  at::Tensor embedded(const at::Tensor& tokens) override;

  std::int64_t channels() const override { return options_.d_inner(); }
  ChannelTrace trace(const at::Tensor& u, std::int64_t layer, std::int64_t channel) override;
  void evaluate_by(std::shared_ptr<PicardEvaluation> picard) override { picard_ = std::move(picard); }

 private:
  // What a layer's scan was given, for analysis.
  struct Taken {
    at::Tensor x, dt, B, C;
  };
  operators::ScanResult scan(const Mamba1Layer& layer, const Taken& taken, const at::Tensor& h0) const;
  void add_layer(const Initialiser& draw, const std::string& prefix);
  at::Tensor& add(const std::string& name, at::Tensor tensor, bool decayed = false);
  at::Tensor mixer(const Mamba1Layer& layer, const at::Tensor& u, LayerState* state, Taken* taken) const;
  at::Tensor block(const Mamba1Layer& layer, const at::Tensor& u, LayerState* state, Taken* taken = nullptr) const;
  at::Tensor through_blocks(at::Tensor u, ModelState* state = nullptr) const;
  at::Tensor last_rows(const at::Tensor& tokens, ModelState* state = nullptr) const;
  at::Tensor read_out(const at::Tensor& u) const;
  Taken taken_by(at::Tensor u, std::int64_t layer) const;
  const CouplingOptions& coupling_settings() const override { return options_.coupling; }
  std::vector<LayerCoupling> layer_couplings() const override;
  at::Tensor slowest_decays(std::int64_t layer) const override;

  Mamba1Options options_;
  Engine engine_;
  at::ScalarType type_;
  at::Tensor embedding_, final_norm_, final_norm_bias_, lm_head_;
  std::vector<Mamba1Layer> layers_;
  std::vector<Parameter> parameters_;
  std::shared_ptr<PicardEvaluation> picard_;
};

}  // namespace mambarium
