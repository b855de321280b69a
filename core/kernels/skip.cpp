#include "core/kernels/skip.h"

namespace mambarium::kernels {

void skip(std::int64_t length, std::int64_t channels, Strided<const float> x, const float* D, Strided<float> y) {
  for (std::int64_t t = 0; t < length; ++t) {
    for (std::int64_t c = 0; c < channels; ++c) {
      y.row(t)[c] += D[c] * x.row(t)[c];
    }
  }
}

void skip_backward(std::int64_t length, std::int64_t channels, Strided<const float> x, const float* D,
                   Strided<const float> dy, Strided<float> dx, float* dD) {
  for (std::int64_t t = 0; t < length; ++t) {
    for (std::int64_t c = 0; c < channels; ++c) {
      dx.row(t)[c] += D[c] * dy.row(t)[c];
      dD[c] += x.row(t)[c] * dy.row(t)[c];
    }
  }
}

}  // namespace mambarium::kernels
