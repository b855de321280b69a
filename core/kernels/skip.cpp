#include "core/kernels/skip.h"

namespace mambarium::kernels {

void skip(std::int64_t length, std::int64_t heads, std::int64_t headdim, Strided<const float> x, const float* D,
          Strided<float> y) {
  for (std::int64_t t = 0; t < length; ++t) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t c = h * headdim; c < (h + 1) * headdim; ++c) {
        y.row(t)[c] += D[h] * x.row(t)[c];
      }
    }
  }
}

void skip_backward(std::int64_t length, std::int64_t heads, std::int64_t headdim, Strided<const float> x,
                   const float* D, Strided<const float> dy, Strided<float> dx, float* dD) {
  for (std::int64_t h = 0; h < heads; ++h) {
    double into_D = 0;  // terms cancel behind a norm
    for (std::int64_t t = 0; t < length; ++t) {
      float sum = 0;
      for (std::int64_t c = h * headdim; c < (h + 1) * headdim; ++c) {
        dx.row(t)[c] += D[h] * dy.row(t)[c];
        sum += x.row(t)[c] * dy.row(t)[c];
      }
      into_D += static_cast<double>(sum);
    }
    dD[h] += static_cast<float>(into_D);
  }
}

}  // namespace mambarium::kernels
