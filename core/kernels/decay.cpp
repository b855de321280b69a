#include "core/kernels/decay.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/decay.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

void SoftplusInPlace(std::int64_t count, float* numbers) {
  const D d;
  ForEachVector(count, [&](std::int64_t i, std::int64_t some)
                           HWY_ATTR { StoreUpTo(Softplus(d, LoadUpTo(d, numbers + i, some)), d, numbers + i, some); });
}

void SigmoidInPlace(std::int64_t count, float* numbers) {
  const D d;
  ForEachVector(count, [&](std::int64_t i, std::int64_t some)
                           HWY_ATTR { StoreUpTo(Sigmoid(d, LoadUpTo(d, numbers + i, some)), d, numbers + i, some); });
}

void ExpInPlace(std::int64_t count, float* numbers) {
  const D d;
  ForEachVector(count, [&](std::int64_t i, std::int64_t some) HWY_ATTR {
    StoreUpTo(FaithfulExp(d, LoadUpTo(d, numbers + i, some)), d, numbers + i, some);
  });
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(SoftplusInPlace);
HWY_EXPORT(SigmoidInPlace);
HWY_EXPORT(ExpInPlace);

namespace {

void add_bias(std::int64_t length, std::int64_t heads, Strided<const float> raw, const float* dt_bias, float* to) {
  for (std::int64_t t = 0; t < length; ++t) {
    for (std::int64_t h = 0; h < heads; ++h) {
      to[t * heads + h] = raw.row(t)[h] + dt_bias[h];
    }
  }
}

}  // namespace

void decay(std::int64_t length, std::int64_t heads, Strided<const float> raw, const float* dt_bias, const float* A_log,
           float* dt, float* a) {
  add_bias(length, heads, raw, dt_bias, dt);
  HWY_DYNAMIC_DISPATCH(SoftplusInPlace)(length * heads, dt);
  if (A_log == nullptr) {
    std::fill_n(a, length * heads, 1.0f);
    return;
  }
  for (std::int64_t h = 0; h < heads; ++h) {
    const float rate = -std::exp(A_log[h]);
    for (std::int64_t t = 0; t < length; ++t) {
      a[t * heads + h] = rate * dt[t * heads + h];
    }
  }
  HWY_DYNAMIC_DISPATCH(ExpInPlace)(length * heads, a);
}

void decay_backward(std::int64_t length, std::int64_t heads, Strided<const float> raw, const float* dt_bias,
                    const float* A_log, const float* dt, const float* a, const float* ddt, const float* da,
                    Strided<float> draw, float* d_dt_bias, float* dA_log, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  float* slope = scratch.floats(length * heads);
  add_bias(length, heads, raw, dt_bias, slope);
  HWY_DYNAMIC_DISPATCH(SigmoidInPlace)(length * heads, slope);
  for (std::int64_t h = 0; h < heads; ++h) {
    const float rate = A_log == nullptr ? 0.0f : -std::exp(A_log[h]);
    double into_bias = 0, into_rate = 0;  // terms cancel behind a norm, which undoes any scaling by dt
    for (std::int64_t t = 0; t < length; ++t) {
      const std::int64_t i = t * heads + h;
      const float into_exponent = A_log == nullptr ? 0.0f : da[i] * a[i];
      const float gradient = (ddt[i] + rate * into_exponent) * slope[i];
      draw.row(t)[h] = gradient;
      into_bias += static_cast<double>(gradient);
      into_rate += static_cast<double>(into_exponent * dt[i]);
    }
    d_dt_bias[h] += static_cast<float>(into_bias);
    if (dA_log != nullptr) {
      dA_log[h] += rate * static_cast<float>(into_rate);
    }
  }
}

}  // namespace mambarium::kernels
#endif
