// Rwkv4: RWKV-4 (Peng et al. 2023, "RWKV: Reinventing RNNs for the Transformer Era"), a recurrent baseline.
//
//   u = norm(embedding(token));  per layer  u += time_mix(norm(u)),  u += channel_mix(norm(u))
//   log p = read_out(lm_head(norm(u)))
//   mix_m(x_t) = m x_t + (1 - m) x_{t-1}, a number m per channel, x_{-1} = 0: token shift
//   time mixing:     k, v, r = key mix_k(x), value mix_v(x), receptance mix_r(x)
//                    output(sigmoid(r) * wkv(k, v)), decay w = exp(log_decay), bonus u = bonus; core/models/wkv.h
//   channel mixing:  sigmoid(receptance mix_r(x)) * value(relu(key mix_k(x))^2), 4 d_model wide
//
// Norms are layer norms with bias, maps have none. Maps start uniform in 1/sqrt(columns), those that write into the
// residual stream (output, channel value) divided by sqrt(2 layers). The rest starts as the paper's appendix has it,
// with i = channel / d and l = layer / (layers - 1), 0 where there is one: mixes i^(1 - layer/layers), that of the
// values 0.3 l more, that of time mixing's receptance half of it; log_decay = -5 + 8 (channel/(d-1))^(0.7 + 1.3 l);
// bonus = log 0.3 + ((channel + 1) mod 3 - 1) / 2. Names:
//   embedding.weight  input_norm.{weight,bias}  layers.0.time_mix.norm.{weight,bias}
//   layers.0.time_mix.{mix_k,mix_v,mix_r,log_decay,bonus}  layers.0.time_mix.{key,value,receptance,output}.weight
//   layers.0.channel_mix.norm.{weight,bias}  layers.0.channel_mix.{mix_k,mix_r}
//   layers.0.channel_mix.{key,receptance,value}.weight  final_norm.{weight,bias}  lm_head.weight
// All but the recurrence is computed by LibTorch operators. The state is five rows of d_model numbers for each layer
// and sequence, however long: memory of read() is that of its own tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <string>
#include <vector>

#include "core/models/initialisation.h"
#include "core/models/parameter.h"
#include "core/models/rwkv4_options.h"
#include "core/models/sequence_model.h"

namespace mambarium {

struct Rwkv4Norm {
  at::Tensor weight, bias;
};

struct Rwkv4Layer {
  struct TimeMix {
    Rwkv4Norm norm;
    at::Tensor mix_k, mix_v, mix_r, log_decay, bonus;  // [d_model]
    at::Tensor key, value, receptance, output;         // [d_model, d_model]
  } time;
  struct ChannelMix {
    Rwkv4Norm norm;
    at::Tensor mix_k, mix_r;            // [d_model]
    at::Tensor key, receptance, value;  // [d_ffn, d_model], [d_model, d_model], [d_model, d_ffn]
  } channel;
};

class Rwkv4 final : public SequenceModel {
 public:
  // What a layer remembers between two calls. Undefined members stand for nothing.
  struct LayerState {
    at::Tensor past_time, past_channel;  // [b, 1, d_model]: what each mixing was last given
    at::Tensor sums;                     // [b, 3, d_model] of the recurrence
    std::array<at::Tensor*, 3> tensors() { return {&past_time, &past_channel, &sums}; }
  };

  Rwkv4(const Rwkv4Options& options, Precision precision);

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
  Rwkv4Norm add_norm(const Initialiser& draw, const std::string& name);
  void add_layer(const Initialiser& draw, std::int64_t index);
  at::Tensor time_mix(const Rwkv4Layer::TimeMix& mix, const at::Tensor& x, LayerState* state) const;
  at::Tensor channel_mix(const Rwkv4Layer::ChannelMix& mix, const at::Tensor& x, LayerState* state) const;
  at::Tensor through_layers(const at::Tensor& embedded, ModelState* state = nullptr) const;  // u after the last block
  at::Tensor last_rows(const at::Tensor& tokens, ModelState* state = nullptr) const;
  at::Tensor read_out(const at::Tensor& u) const;

  Rwkv4Options options_;
  at::ScalarType type_;
  at::Tensor embedding_, lm_head_;
  Rwkv4Norm input_norm_, final_norm_;
  std::vector<Rwkv4Layer> layers_;
  std::vector<Parameter> parameters_;
};

}  // namespace mambarium
