// Mamba2Options: the architecture of paper 1 as plain numbers and switches, read from an ExperimentConfig once.
//
// kind mamba2 follows the authors' code, every part of it switchable on its own; kind mamba_zero is the same block with
// activation, gate, norms, MLP and D skip off: its convolution, decay and read-out stay switchable. docs/science.md has
// the equations.
//
// Parameter count with everything on but the D skip, e = expand, N = d_state, w = d_conv, one head, one layer:
//   2 S d + (2 e d + 2 N + 1) d + (e d + 2 N)(w + 1) + 2 + e d d + (3 d + e d) + 12 d^2
// which is 1458 at d = N = 8, e = 2, w = 2, S = 2. Reference runs that count 1498 used layer norms with a bias
// (3 d + e d = 40 more numbers, as PyTorch before 2.1 could not leave it out); the authors' norms have none, and so
// have these. Without the gate there are no z rows: the authors keep them unused. A coupling of rank r adds 2 N r + 1
// to a layer, or so many to each of its channels.
#pragma once

#include <cstdint>

#include "core/contract/experiment_config.h"
#include "core/kernels/activation.h"
#include "core/models/layer_coupling.h"

namespace mambarium {

enum class Mlp { none, plain, gated };
enum class Readout { softmax, l1 };
enum class Filters { per_channel, shared, fixed };

struct Mamba2Options {
  std::int64_t states = 2;  // S: the size of the alphabet; 0: neither embedding nor read-out, rows() alone
  std::int64_t d_model = 8, d_state = 8, expand = 2;
  std::int64_t headdim = 0;  // 0: one head of all d_inner channels; must divide d_inner
  std::int64_t layers = 1;
  std::int64_t d_conv = 2;
  bool conv_x = true, conv_B = true, conv_C = true;
  // shared: one learned filter and bias for all channels of a segment. fixed: taps 1, 2, 4 ... 2^(w-1) from the oldest
  // token to the current one, as the authors' fixed convolution has them, and bias 1; not parameters.
  Filters filters = Filters::per_channel;
  // After the convolution (or in its place), in the gate, and in the MLP. With none, gate and gated MLP multiply by the
  // bare projection; the plain MLP keeps a ReLU, without which it would be one linear map.
  Activation activation = Activation::silu;
  bool gate = true;
  bool learned_decay = true;  // false: a_t = 1 (dt still scales the input)
  bool norm = true;           // before mixer and MLP, on y before the gate, before the read-out
  bool skip = false;          // y_t += D x_t, one D per head
  Mlp mlp = Mlp::gated;
  Readout readout = Readout::softmax;
  CouplingOptions coupling;  // of the N states of every channel
  std::uint64_t seed = 0;    // of the initial weights
  int threads = 1;           // of the hand-written kernels; no result depends on it

  std::int64_t d_inner() const { return expand * d_model; }
  std::int64_t head_width() const { return headdim == 0 ? d_inner() : headdim; }
  std::int64_t heads() const { return d_inner() / head_width(); }
};

Activation activation_of(const ExperimentConfig& config);
Readout readout_of(const ExperimentConfig& config);
// From a configuration that validate() finds nothing wrong with.
Mamba2Options mamba2_options(const ExperimentConfig& config);

}  // namespace mambarium
