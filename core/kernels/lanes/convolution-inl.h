// Depthwise causal convolution and activation over LaneRows. Include after hwy/foreach_target.h.
//
// The rows that are convolved start w - 1 rows before the first one that is wanted, so that a sequence can be taken in
// pieces: the first w - 1 are the last of the piece before (zeros at the start of a sequence).

#if defined(MAMBARIUM_KERNELS_LANES_CONVOLUTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_CONVOLUTION_INL_H_
#undef MAMBARIUM_KERNELS_LANES_CONVOLUTION_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_CONVOLUTION_INL_H_
#endif

#include "core/kernels/lanes/lane_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

struct Taps {
  std::int64_t channels = 0, window = 1;
  const float* taps = nullptr;  // [channels][window], the current token last
  const float* bias = nullptr;  // [channels]
};

// out(t, c) = act(bias(c) + sum over i of taps(c, i) in(t + i, c)); slope, where wanted, receives act's derivative.
template <Activation A>
void Convolve(std::int64_t rows, const Taps& with, Numbers in, NumbersOut out, NumbersOut slope) {
  for (std::int64_t t = 0; t < rows; ++t) {
    for (std::int64_t c = 0; c < with.channels; ++c) {
      const float* taps = with.taps + c * with.window;
      V sum = All(with.bias[c]);
      for (std::int64_t i = 0; i < with.window; ++i) sum = hn::MulAdd(All(taps[i]), At(in, t + i, c), sum);
      if (slope.data == nullptr) {
        Put(Activated<A>(D(), sum), out, t, c);
      } else {
        V derivative;
        Put(Activated<A>(D(), sum, derivative), out, t, c);
        Put(derivative, slope, t, c);
      }
    }
  }
}

// din [w - 1 + rows] is added to; dtaps [channels][window] and dbias [channels] vectors as well. dout is overwritten.
inline void ConvolveBackward(std::int64_t rows, const Taps& with, Numbers in, Numbers slope, NumbersOut dout,
                             NumbersOut din, float* dtaps, float* dbias) {
  const D d;
  for (std::int64_t c = 0; c < with.channels; ++c) {
    V bias = hn::Load(d, dbias + c * lanes);
    for (std::int64_t t = 0; t < rows; ++t) {
      const V before = hn::Mul(At(dout, t, c), At(slope, t, c));
      Put(before, dout, t, c);
      bias = hn::Add(bias, before);
    }
    hn::Store(bias, d, dbias + c * lanes);
    for (std::int64_t i = 0; i < with.window; ++i) {
      float* const sum = dtaps + (c * with.window + i) * lanes;
      const V tap = All(with.taps[c * with.window + i]);
      V into_tap = hn::Load(d, sum);
      for (std::int64_t t = 0; t < rows; ++t) {
        const V before = At(dout, t, c);
        into_tap = hn::MulAdd(before, At(in, t + i, c), into_tap);
        Put(hn::MulAdd(before, tap, At(din, t + i, c)), din, t + i, c);
      }
      hn::Store(into_tap, d, sum);
    }
  }
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_CONVOLUTION_INL_H_
