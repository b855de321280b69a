// One Mamba-2 block as plain LibTorch operators, over a whole sequence or continued from a state.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <functional>

#include "core/models/mamba2.h"
#include "core/models/operators.h"

namespace mambarium::operators {

// What a block remembers between two calls. Undefined members stand for zeros.
struct LayerState {
  at::Tensor past_x, past_B, past_C;  // [b, w-1, channels] where the segment has a convolution
  at::Tensor h;                       // [b, H, P, N]
  std::array<at::Tensor*, 4> tensors() { return {&past_x, &past_B, &past_C, &h}; }
  std::array<at::Tensor, 1> hidden() const { return {h}; }
  std::array<at::Tensor, 3> windows() const { return {past_x, past_B, past_C}; }
};

// What the scan of a block took.
struct ScanInputs {
  at::Tensor x;          // [b, T, d_inner]
  at::Tensor dt, decay;  // dt_t and a_t [b, T, H]
  at::Tensor B, C;       // [b, T, N]
};

// `linear`: what multiplies rows by a weight [out, in], for an engine with products of its own.
using Linear = std::function<at::Tensor(const at::Tensor& rows, const at::Tensor& weight)>;
// What an engine may compute in its own way over whole sequences, without a state; what is empty is the operators'.
// convolution: of rows [b, T, channels] with filters of LayerState's segments, activated. coupled_scan: as in
// operators.h.
struct MixerFunctions {
  Linear linear;
  std::function<at::Tensor(const at::Tensor& rows, const at::Tensor& weight, const at::Tensor& bias)> convolution;
  std::function<ScanResult(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                           const at::Tensor& A, const at::Tensor& P, const at::Tensor& Q)>
      coupled_scan;
};

// u [b, T, d_model] -> what the mixer adds to it. `state` (may be null) is read, and advanced by T tokens;
// `taken` (may be null) receives what the scan took. `functions` other than the operators' go without a state.
at::Tensor mixer(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& u,
                 LayerState* state = nullptr, ScanInputs* taken = nullptr, const MixerFunctions& functions = {});
at::Tensor mlp(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& u, const Linear& linear);

// One after the other with their norms and residuals.
at::Tensor block(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& u,
                 LayerState* state = nullptr, ScanInputs* taken = nullptr);

}  // namespace mambarium::operators
