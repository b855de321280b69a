#include "core/kernels/causal_convolution.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/causal_convolution.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

template <Activation A>
void Convolve(const ConvolutionShape& shape, Strided<const float> in, const float* taps, const float* bias,
              Strided<float> out, Strided<float> slope) {
  const D d;
  ForEachVector(shape.channels, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
    const V offset = LoadUpTo(d, bias + c, count);
    for (std::int64_t t = 0; t < shape.length; ++t) {
      V sum = offset;
      for (std::int64_t back = std::min(shape.window - 1, t); back >= 0; --back) {
        const V tap = LoadUpTo(d, taps + (shape.window - 1 - back) * shape.channels + c, count);
        sum = hn::MulAdd(tap, LoadUpTo(d, in.row(t - back) + c, count), sum);
      }
      if (slope.data == nullptr) {
        StoreUpTo(Activated<A>(d, sum), d, out.row(t) + c, count);
      } else {
        V derivative;
        StoreUpTo(Activated<A>(d, sum, derivative), d, out.row(t) + c, count);
        StoreUpTo(derivative, d, slope.row(t) + c, count);
      }
    }
  });
}

void Convolution(const ConvolutionShape& shape, Strided<const float> in, const float* taps, const float* bias,
                 Activation activation, Strided<float> out, Strided<float> slope) {
  WithActivation(activation, [&](auto a) HWY_ATTR { Convolve<a()>(shape, in, taps, bias, out, slope); });
}

void ConvolutionBackward(const ConvolutionShape& shape, Strided<const float> in, const float* taps,
                         Strided<const float> slope, Strided<float> dout, Strided<float> din, float* dtaps,
                         float* dbias) {
  const D d;
  ForEachVector(shape.channels, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
    V into_bias = hn::Zero(d);
    for (std::int64_t t = 0; t < shape.length; ++t) {
      const V gradient = hn::Mul(LoadUpTo(d, dout.row(t) + c, count), LoadUpTo(d, slope.row(t) + c, count));
      StoreUpTo(gradient, d, dout.row(t) + c, count);
      into_bias = hn::Add(into_bias, gradient);
    }
    StoreUpTo(hn::Add(into_bias, LoadUpTo(d, dbias + c, count)), d, dbias + c, count);

    for (std::int64_t back = 0; back < shape.window; ++back) {
      const std::int64_t index = (shape.window - 1 - back) * shape.channels + c;
      const V tap = LoadUpTo(d, taps + index, count);
      V into_tap = hn::Zero(d);
      for (std::int64_t t = 0; t < shape.length; ++t) {
        if (t + back < shape.length) {
          const V gradient = LoadUpTo(d, dout.row(t + back) + c, count);
          into_tap = hn::MulAdd(gradient, LoadUpTo(d, in.row(t) + c, count), into_tap);
          const V sum = back == 0 ? hn::Zero(d) : LoadUpTo(d, din.row(t) + c, count);
          StoreUpTo(hn::MulAdd(gradient, tap, sum), d, din.row(t) + c, count);
        }
      }
      StoreUpTo(hn::Add(into_tap, LoadUpTo(d, dtaps + index, count)), d, dtaps + index, count);
    }
  });
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(Convolution);
HWY_EXPORT(ConvolutionBackward);

void causal_convolution(const ConvolutionShape& shape, Strided<const float> in, const float* taps, const float* bias,
                        Activation activation, Strided<float> out, Strided<float> slope) {
  HWY_DYNAMIC_DISPATCH(Convolution)(shape, in, taps, bias, activation, out, slope);
}

void causal_convolution_backward(const ConvolutionShape& shape, Strided<const float> in, const float* taps,
                                 Strided<const float> slope, Strided<float> dout, Strided<float> din, float* dtaps,
                                 float* dbias) {
  HWY_DYNAMIC_DISPATCH(ConvolutionBackward)(shape, in, taps, slope, dout, din, dtaps, dbias);
}

}  // namespace mambarium::kernels
#endif
