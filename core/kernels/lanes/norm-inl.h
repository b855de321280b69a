// Layer norm without bias over LaneRows: (u - mean) / sqrt(variance + 1e-5) * gain. Include after
// hwy/foreach_target.h.

#if defined(MAMBARIUM_KERNELS_LANES_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_NORM_INL_H_
#undef MAMBARIUM_KERNELS_LANES_NORM_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_NORM_INL_H_
#endif

#include "core/kernels/lanes/lane_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

// `standard` is what stands before the gain, `scale` [rows][1] what it was divided by, inverted: the backward pass
// wants both.
inline void Norm(std::int64_t rows, std::int64_t width, const float* gain, Numbers in, NumbersOut standard,
                 NumbersOut scale, NumbersOut out) {
  const V share = All(1.0f / static_cast<float>(width));
  for (std::int64_t t = 0; t < rows; ++t) {
    V mean = Nothing(), variance = Nothing();
    for (std::int64_t c = 0; c < width; ++c) mean = hn::Add(mean, At(in, t, c));
    mean = hn::Mul(mean, share);
    for (std::int64_t c = 0; c < width; ++c) {
      const V off = hn::Sub(At(in, t, c), mean);
      variance = hn::MulAdd(off, off, variance);
    }
    const V inverse = hn::Div(All(1.0f), hn::Sqrt(hn::MulAdd(variance, share, All(1e-5f))));
    Put(inverse, scale, t, 0);
    for (std::int64_t c = 0; c < width; ++c) {
      const V value = hn::Mul(hn::Sub(At(in, t, c), mean), inverse);
      Put(value, standard, t, c);
      Put(hn::Mul(value, All(gain[c])), out, t, c);
    }
  }
}

// din is written; dgain [width] vectors are added to. dout and din may be the same.
inline void NormBackward(std::int64_t rows, std::int64_t width, const float* gain, Numbers standard, Numbers scale,
                         Numbers dout, NumbersOut din, float* dgain) {
  const V share = All(1.0f / static_cast<float>(width));
  for (std::int64_t t = 0; t < rows; ++t) {
    V mean = Nothing(), slope = Nothing();
    for (std::int64_t c = 0; c < width; ++c) {
      const V incoming = At(dout, t, c), value = At(standard, t, c);
      const V scaled = hn::Mul(incoming, All(gain[c]));
      mean = hn::Add(mean, scaled);
      slope = hn::MulAdd(scaled, value, slope);
      hn::Store(hn::MulAdd(incoming, value, hn::Load(D(), dgain + c * lanes)), D(), dgain + c * lanes);
    }
    mean = hn::Mul(mean, share);
    slope = hn::Mul(slope, share);
    const V inverse = At(scale, t, 0);
    for (std::int64_t c = 0; c < width; ++c) {
      const V scaled = hn::Mul(At(dout, t, c), All(gain[c]));
      const V gradient = hn::Mul(inverse, hn::NegMulAdd(slope, At(standard, t, c), hn::Sub(scaled, mean)));
      Put(gradient, din, t, c);
    }
  }
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_NORM_INL_H_
