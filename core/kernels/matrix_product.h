// Products of tall narrow matrices, for models whose layers are a few dozen numbers wide. BLAS is at home above that.
//
// Rows of `right` and of `sum` must be padded to whole multiples of 16 numbers that may be read (Scratch::rows makes
// them so). The order of every sum depends on the shape alone.
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"

namespace mambarium::kernels {

// out[t][n] = sum_k left[t][k] right[k][n] for n < width, added to what is there where `add`.
void product(std::int64_t length, std::int64_t depth, std::int64_t width, Strided<const float> left,
             Strided<const float> right, Strided<float> out, bool add);

// sum[i][n] += sum_t left[t][i] right[t][n], i < height, n < width. Here only sum's rows are padded.
void add_outer_products(std::int64_t length, std::int64_t height, std::int64_t width, Strided<const float> left,
                        Strided<const float> right, Strided<float> sum);

// out[n][k] = in[k][n]; zeros in out beyond, up to its stride.
void transpose(std::int64_t rows, std::int64_t columns, Strided<const float> in, Strided<float> out);

}  // namespace mambarium::kernels
