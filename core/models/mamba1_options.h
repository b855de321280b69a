// Mamba1Options: Mamba-1 and Motif-Mamba as plain numbers and switches, read from an ExperimentConfig once.
//
// Everything on, no coupling, it counts as the published model: with V = alphabet, d = d_model, D = expand d, N =
// d_state, w = d_conv and R = dt_rank = ceil(d / 16),
//   2 V d + 2 d + layers (2 d + 2 D d + D (w + 1) + (R + 2 N) D + (R + 1) D + D N + D + D d),
// which is 73,856 for V = d = 64, expand 2, N = 16, w = 4, two layers. A coupling shared by the channels adds
// layers (2 n r + 1): 1,560 for 24 layers, n = 16, r = 2.
#pragma once

#include <cstdint>

#include "core/contract/experiment_config.h"
#include "core/models/layer_coupling.h"
#include "core/models/mamba2_options.h"

namespace mambarium {

struct Mamba1Options {
  std::int64_t states = 2;  // S: the size of the alphabet; 0: neither embedding nor read-out, rows() alone
  std::int64_t d_model = 8, d_state = 8, expand = 2, layers = 1;
  std::int64_t d_conv = 4;
  bool conv = true;
  Activation activation = Activation::silu;  // after the convolution (or in its place) and in the gate
  bool gate = true;
  bool learned_decay = true;  // false: a_t = 1
  bool norm = true;           // with bias: before the mixer and before the read-out
  bool skip = true;           // y_t += D x_t, one D per channel
  Readout readout = Readout::softmax;
  CouplingOptions coupling;
  std::uint64_t seed = 0;
  int threads = 1;

  std::int64_t d_inner() const { return expand * d_model; }
  std::int64_t dt_rank() const { return (d_model + 15) / 16; }
};

// From a configuration that validate() finds nothing wrong with.
Mamba1Options mamba1_options(const ExperimentConfig& config);

}  // namespace mambarium
