// Step size and decay of every head along one sequence (paper 1, section 2.2).
//
//   dt_t = softplus(raw_t + dt_bias),  a_t = exp(-exp(A_log) dt_t), or 1 where A_log is null
//
// raw [T, H] strided; dt and a [T, H] contiguous. softplus is max(x, 0) + log1p(exp(-|x|)): exact in both tails, no
// clamp.
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"
#include "core/kernels/scratch.h"

namespace mambarium::kernels {

void decay(std::int64_t length, std::int64_t heads, Strided<const float> raw, const float* dt_bias, const float* A_log,
           float* dt, float* a);

// From dt, a and their gradients: draw is written, d_dt_bias and dA_log (null with A_log) added to.
void decay_backward(std::int64_t length, std::int64_t heads, Strided<const float> raw, const float* dt_bias,
                    const float* A_log, const float* dt, const float* a, const float* ddt, const float* da,
                    Strided<float> draw, float* d_dt_bias, float* dA_log, Scratch& scratch);

}  // namespace mambarium::kernels
