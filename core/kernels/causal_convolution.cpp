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

// Windows up to this wide are kept in registers along the sequence; wider ones are taken in several passes.
constexpr std::int64_t register_taps = 4;

template <Activation A>
HWY_INLINE void StoreActivated(D d, V sum, float* out, float* slope, std::int64_t count) {
  if (slope == nullptr) {
    StoreUpTo(Activated<A>(d, sum), d, out, count);
  } else {
    V derivative;
    StoreUpTo(Activated<A>(d, sum, derivative), d, out, count);
    StoreUpTo(derivative, d, slope, count);
  }
}

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
      StoreActivated<A>(d, sum, out.row(t) + c, slope.data == nullptr ? nullptr : slope.row(t) + c, count);
    }
  });
}

void Convolution(const ConvolutionShape& shape, Strided<const float> in, const float* taps, const float* bias,
                 Activation activation, Strided<float> out, Strided<float> slope) {
  WithActivation(activation, [&](auto a) HWY_ATTR { Convolve<a()>(shape, in, taps, bias, out, slope); });
}

// What taps first_back, first_back + 1, ... (counted backwards in time) receive, and their share of din. Backwards
// along the sequence, `ahead` holds the gradients before the activation at tokens t + first_back, t + first_back + 1,
// ...
template <int Taps>
void BackwardPass(const ConvolutionShape& shape, std::int64_t first_back, std::int64_t c, std::int64_t count,
                  Strided<const float> in, const float* taps, Strided<const float> slope, Strided<const float> dout,
                  Strided<float> din, float* dtaps, float* dbias) {
  const D d;
  const auto offset = [&](int i) { return (shape.window - 1 - first_back - i) * shape.channels + c; };
  V tap[Taps], into_tap[Taps], ahead[Taps], into_bias = hn::Zero(d);
#pragma GCC unroll 4
  for (int i = 0; i < Taps; ++i) {
    tap[i] = LoadUpTo(d, taps + offset(i), count);
    into_tap[i] = ahead[i] = hn::Zero(d);
  }
  for (std::int64_t t = shape.length - 1; t >= 0; --t) {
#pragma GCC unroll 4
    for (int i = Taps - 1; i > 0; --i) {
      ahead[i] = ahead[i - 1];
    }
    const std::int64_t later = t + first_back;
    ahead[0] = hn::Zero(d);
    if (later < shape.length) {
      ahead[0] = hn::Mul(LoadUpTo(d, dout.row(later) + c, count), LoadUpTo(d, slope.row(later) + c, count));
    }
    into_bias = hn::Add(into_bias, ahead[0]);
    const V input = LoadUpTo(d, in.row(t) + c, count);
    V gradient = first_back == 0 ? hn::Zero(d) : LoadUpTo(d, din.row(t) + c, count);
#pragma GCC unroll 4
    for (int i = 0; i < Taps; ++i) {
      gradient = hn::MulAdd(ahead[i], tap[i], gradient);
      into_tap[i] = hn::MulAdd(ahead[i], input, into_tap[i]);
    }
    StoreUpTo(gradient, d, din.row(t) + c, count);
  }
#pragma GCC unroll 4
  for (int i = 0; i < Taps; ++i) {
    StoreUpTo(hn::Add(into_tap[i], LoadUpTo(d, dtaps + offset(i), count)), d, dtaps + offset(i), count);
  }
  if (first_back == 0) {
    StoreUpTo(hn::Add(into_bias, LoadUpTo(d, dbias + c, count)), d, dbias + c, count);
  }
}

void ConvolutionBackward(const ConvolutionShape& shape, Strided<const float> in, const float* taps,
                         Strided<const float> slope, Strided<const float> dout, Strided<float> din, float* dtaps,
                         float* dbias) {
  constexpr decltype(&BackwardPass<1>) passes[] = {BackwardPass<1>, BackwardPass<2>, BackwardPass<3>, BackwardPass<4>};
  for (std::int64_t c = 0; c < shape.channels; c += lanes) {
    const std::int64_t count = std::min(lanes, shape.channels - c);
    for (std::int64_t back = 0; back < shape.window; back += register_taps) {
      const std::int64_t some = std::min(register_taps, shape.window - back);
      passes[some - 1](shape, back, c, count, in, taps, slope, dout, din, dtaps, dbias);
    }
  }
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
                                 Strided<const float> slope, Strided<const float> dout, Strided<float> din,
                                 float* dtaps, float* dbias) {
  HWY_DYNAMIC_DISPATCH(ConvolutionBackward)(shape, in, taps, slope, dout, din, dtaps, dbias);
}

}  // namespace mambarium::kernels
#endif
