// The D skip along one sequence: y_t += D x_t, D already spread over the channels.
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"

namespace mambarium::kernels {

void skip(std::int64_t length, std::int64_t channels, Strided<const float> x, const float* D, Strided<float> y);

// dx and dD are added to.
void skip_backward(std::int64_t length, std::int64_t channels, Strided<const float> x, const float* D,
                   Strided<const float> dy, Strided<float> dx, float* dD);

}  // namespace mambarium::kernels
