// The MLP of a block with its norm and residual, forward and backward, in blocks of rows that stay in cache:
//
//   out = u + fc2 (fc1 norm(u) * act(fc1_gate norm(u)))     gated
//   out = u + fc2 act(fc1 norm(u))                          plain: fc1_gate null
//
// For narrow models. Nothing but u is kept for the backward pass. Weights as LibTorch holds them, [out][in]; norm may
// be null. Threads: rows are split over `threads`; no result depends on how many.
#pragma once

#include <cstdint>

#include "core/kernels/activation.h"
#include "core/kernels/rows.h"

namespace mambarium::kernels {

struct MlpShape {
  std::int64_t rows = 0, d_model = 0, hidden = 0;
  Activation activation = Activation::silu;
};

template <class Real>
struct MlpTensors {
  Real* norm = nullptr;                      // [d_model]
  Real *fc1 = nullptr, *fc1_gate = nullptr;  // [hidden][d_model]
  Real* fc2 = nullptr;                       // [d_model][hidden]
};

// u, out [rows, d_model].
void mlp(const MlpShape& shape, const MlpTensors<const float>& weights, Strided<const float> u, Strided<float> out,
         int threads);
// du and gradients are written.
void mlp_backward(const MlpShape& shape, const MlpTensors<const float>& weights, Strided<const float> u,
                  Strided<const float> dout, Strided<float> du, const MlpTensors<float>& gradients, int threads);

}  // namespace mambarium::kernels
