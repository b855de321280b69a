// The D skip along one sequence: y_t += D x_t, one D per head.
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"

namespace mambarium::kernels {

void skip(std::int64_t length, std::int64_t heads, std::int64_t headdim, Strided<const float> x, const float* D,
          Strided<float> y);

// dx and dD are added to.
void skip_backward(std::int64_t length, std::int64_t heads, std::int64_t headdim, Strided<const float> x,
                   const float* D, Strided<const float> dy, Strided<float> dx, float* dD);

}  // namespace mambarium::kernels
