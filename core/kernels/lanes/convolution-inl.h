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

// The gradients of W neighbouring taps of one channel, from tap `first` on.
template <int W>
HWY_INLINE void TapsBackward(std::int64_t rows, const Taps& with, std::int64_t c, std::int64_t first, Numbers in,
                             Numbers dout, NumbersOut din, float* dtaps) {
  const D d;
  const std::int64_t at = c * with.window + first;
  V tap[W], into_tap[W], incoming[W];
#pragma GCC unroll 4
  for (int i = 0; i < W; ++i) {
    tap[i] = All(with.taps[at + i]);
    into_tap[i] = hn::Load(d, dtaps + (at + i) * lanes);
    incoming[i] = Nothing();
  }
  for (std::int64_t row = 0; row < rows + W - 1; ++row) {
#pragma GCC unroll 4
    for (int i = W - 1; i > 0; --i) incoming[i] = incoming[i - 1];
    incoming[0] = row < rows ? At(dout, row, c) : Nothing();
    const V input = At(in, row + first, c);
    V into_input = At(din, row + first, c);
#pragma GCC unroll 4
    for (int i = 0; i < W; ++i) {
      into_input = hn::MulAdd(incoming[i], tap[i], into_input);
      into_tap[i] = hn::MulAdd(incoming[i], input, into_tap[i]);
    }
    Put(into_input, din, row + first, c);
  }
#pragma GCC unroll 4
  for (int i = 0; i < W; ++i) hn::Store(into_tap[i], d, dtaps + (at + i) * lanes);
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
    std::int64_t i = 0;
    for (; i + 2 <= with.window; i += 2) TapsBackward<2>(rows, with, c, i, in, dout, din, dtaps);
    for (; i < with.window; ++i) TapsBackward<1>(rows, with, c, i, in, dout, din, dtaps);
  }
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_CONVOLUTION_INL_H_
