// CoupledModel: what a model whose states are coupled can be asked beside what any model can (Motif-Mamba, paper 2).
//
// L layers, D channels of a layer, n = d_state, r = rank, T tokens. The coupling of a channel is M = k P Q. Not
// thread-safe; no gradients but penalty()'s.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace at {
class Tensor;
}

namespace mambarium {

// Everything one channel's recurrence is made of along a sequence, in double.
struct ChannelTrace {
  bool etd = false;
  std::int64_t d_state = 0, rank = 0;
  std::vector<double> A = {};          // [n], at most 0
  std::vector<double> P = {}, Q = {};  // k P [n, r] and Q [r, n]
  std::vector<double> dt = {};         // [T]
  std::vector<double> drive = {};      // [T, n]: B_t x_t
  std::vector<double> state = {};      // [T, n]: h_t as the model computes it
};

// How the couplings of all layers stand to the motif that is asked for: means over the layers (and, where every channel
// has its own, over these).
struct MotifStanding {
  double loss = 0, r_squared = 0;
};

class CoupledModel {
 public:
  virtual ~CoupledModel() = default;

  virtual std::int64_t coupled_layers() const = 0;
  virtual std::int64_t channels() const = 0;
  virtual bool shared_by_channels() const = 0;

  // k, P and Q of a layer's channel, in double; std::invalid_argument where there is no such layer or channel.
  struct Parts {
    double scale = 0;
    std::vector<double> P, Q;  // [n, r] without k, and [r, n]
  };
  virtual Parts coupling(std::int64_t layer, std::int64_t channel) const = 0;
  virtual ChannelTrace trace(std::span<const std::int32_t> tokens, std::int64_t layer, std::int64_t channel) = 0;

  virtual bool has_motif() const = 0;
  // lambda times the motif loss, a scalar to call backward() on: what training adds to the loss of a batch. Undefined
  // where no motif is asked for.
  virtual at::Tensor penalty() = 0;
  virtual MotifStanding motif_standing() const = 0;  // NaN where no motif is asked for
  // Trains P, Q and k alone on the motif loss, before the first step (core/motif/warm_up.h). Nothing without a motif.
  virtual void warm_up() = 0;
};

}  // namespace mambarium
