// One Mamba-2 block as plain LibTorch operators, over a whole sequence or continued from a state.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <functional>

#include "core/models/mamba2.h"

namespace mambarium::operators {

// What a block remembers between two calls. Undefined members stand for zeros.
struct LayerState {
  at::Tensor past_x, past_B, past_C;  // [b, w-1, channels] where the segment has a convolution
  at::Tensor h;                       // [b, H, P, N]
  std::array<at::Tensor*, 4> tensors() { return {&past_x, &past_B, &past_C, &h}; }
};

// What the scan of a block took beside x and dt.
struct ScanInputs {
  at::Tensor decay;  // a_t [b, T, H]
  at::Tensor B, C;   // [b, T, N]
};

// u [b, T, d_model] -> what the mixer adds to it. `state` (may be null) is read, and advanced by T tokens;
// `taken` (may be null) receives what the scan took.
at::Tensor mixer(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& u,
                 LayerState* state = nullptr, ScanInputs* taken = nullptr);
// `linear`: what multiplies rows by a weight [out, in], for an engine with products of its own.
using Linear = std::function<at::Tensor(const at::Tensor& rows, const at::Tensor& weight)>;
at::Tensor mlp(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& u, const Linear& linear);

// One after the other with their norms and residuals.
at::Tensor block(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& u,
                 LayerState* state = nullptr, ScanInputs* taken = nullptr);

}  // namespace mambarium::operators
