// RWKV-4 written straight from its formulas with plain LibTorch operators, quadratic in the length: the oracle of
// Rwkv4 and of wkv().
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <map>
#include <string>

namespace mambarium {

// k and v [b, T, C], w and u [C]: the weights of tokens i < t are e^{k_i - (t-1-i) w}, that of t is e^{u + k_t}.
inline at::Tensor plain_wkv(const at::Tensor& k, const at::Tensor& v, const at::Tensor& w, const at::Tensor& u) {
  const std::int64_t length = k.size(1);
  const auto t = torch::arange(length, k.options().requires_grad(false));
  const auto lag = (t.unsqueeze(1) - t.unsqueeze(0)).unsqueeze(-1);  // [T, T, 1]
  const auto exponent = torch::where(lag > 0, -(lag - 1) * w, u.expand({length, length, w.size(0)}));
  const auto logits = (k.unsqueeze(1) + exponent).masked_fill(lag < 0, -INFINITY);  // [b, T, T, C]
  return (torch::softmax(logits, 2) * v.unsqueeze(1)).sum(2);
}

class PlainRwkv4 {
 public:
  explicit PlainRwkv4(const std::map<std::string, at::Tensor>& weights) : weights_(weights) {}

  at::Tensor log_probabilities(const at::Tensor& tokens, std::int64_t layers) const {
    auto u = normed(at("embedding.weight").index_select(0, tokens.flatten()).view({tokens.size(0), tokens.size(1), -1}),
                    "input_norm");
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      const std::string time = "layers." + std::to_string(layer) + ".time_mix.";
      auto x = normed(u, time + "norm");
      const auto y =
          plain_wkv(times(mixed(x, time + "mix_k"), time + "key"), times(mixed(x, time + "mix_v"), time + "value"),
                    at(time + "log_decay").exp(), at(time + "bonus"));
      u = u + times(gate(times(mixed(x, time + "mix_r"), time + "receptance")) * y, time + "output");

      const std::string channel = "layers." + std::to_string(layer) + ".channel_mix.";
      x = normed(u, channel + "norm");
      const auto hidden = times(mixed(x, channel + "mix_k"), channel + "key").clamp_min(0).pow(2);
      u = u + gate(times(mixed(x, channel + "mix_r"), channel + "receptance")) * times(hidden, channel + "value");
    }
    const auto logits = times(normed(u, "final_norm"), "lm_head");
    return logits - logits.exp().sum(-1, true).log();
  }

 private:
  const at::Tensor& at(const std::string& name) const { return weights_.at(name); }
  at::Tensor times(const at::Tensor& x, const std::string& name) const {
    return torch::matmul(x, at(name + ".weight").t());
  }
  static at::Tensor gate(const at::Tensor& x) { return 1 / (1 + torch::exp(-x)); }
  at::Tensor mixed(const at::Tensor& x, const std::string& name) const {
    auto before = torch::zeros_like(x);
    before.narrow(1, 1, x.size(1) - 1).copy_(x.narrow(1, 0, x.size(1) - 1));
    return at(name) * x + (1 - at(name)) * before;
  }
  at::Tensor normed(const at::Tensor& x, const std::string& name) const {
    const auto centred = x - x.mean(-1, true);
    return centred / torch::sqrt(centred.pow(2).mean(-1, true) + 1e-5) * at(name + ".weight") + at(name + ".bias");
  }

  std::map<std::string, at::Tensor> weights_;
};

}  // namespace mambarium
