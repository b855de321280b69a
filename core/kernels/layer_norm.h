// LayerNorm without a bias, over the width of each row: out = weight (in - mean) / sqrt(variance + 1e-5).
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"

namespace mambarium::kernels {

void layer_norm(std::int64_t length, std::int64_t width, Strided<const float> in, const float* weight,
                Strided<float> out);

// Statistics are computed again from `in`. din is written, or added to where `add`; dweight is added to. din may be
// dout.
void layer_norm_backward(std::int64_t length, std::int64_t width, Strided<const float> in, const float* weight,
                         Strided<const float> dout, Strided<float> din, bool add, float* dweight);

}  // namespace mambarium::kernels
