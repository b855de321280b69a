// The read-out and its cross entropy for a vector of predictions, compiled once per SIMD target. Include after
// hwy/foreach_target.h.
//
//   softmax: log p_s = logit_s - log sum exp(logit);  L1: p_s = (relu(logit_s) + 1e-5) / sum

#if defined(MAMBARIUM_KERNELS_READ_OUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_READ_OUT_INL_H_
#undef MAMBARIUM_KERNELS_READ_OUT_INL_H_
#else
#define MAMBARIUM_KERNELS_READ_OUT_INL_H_
#endif

#include "core/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

inline constexpr float l1_floor = 1e-5f;

HWY_INLINE V Maximum(D d, std::int64_t states, const float* logits) {
  V largest = hn::LoadU(d, logits);
  for (std::int64_t s = 1; s < states; ++s) {
    const V logit = hn::LoadU(d, logits + s * lanes);
    largest = hn::IfThenElse(hn::Gt(logit, largest), logit, largest);
  }
  return largest;
}

// One vector of predictions from logits [states][lanes]; `gradient`, where wanted, becomes scale times
// d(-log p_target) / d logit. Returns log p_target, 0 where the target is negative.
HWY_INLINE V ReadOut(std::int64_t states, bool l1, const float* logits, hn::Vec<Integers> targets, V scale,
                     float* gradient) {
  const D d;
  const Integers integers;
  const V floor = hn::Set(d, l1_floor), zero = hn::Zero(d);
  const V shift = l1 ? zero : Maximum(d, states, logits);
  V sum = zero, weight_of_target = zero, logit_of_target = zero;
  for (std::int64_t s = 0; s < states; ++s) {
    const V logit = hn::LoadU(d, logits + s * lanes);
    const V weight = l1 ? hn::Add(Activated<Activation::relu>(d, logit), floor) : FaithfulExp(d, hn::Sub(logit, shift));
    const auto hot = hn::RebindMask(d, hn::Eq(targets, hn::Set(integers, static_cast<std::int32_t>(s))));
    weight_of_target = hn::IfThenElse(hot, weight, weight_of_target);
    logit_of_target = hn::IfThenElse(hot, logit, logit_of_target);
    sum = hn::Add(sum, weight);
    if (gradient != nullptr) hn::StoreU(weight, d, gradient + s * lanes);
  }
  if (gradient != nullptr) {
    for (std::int64_t s = 0; s < states; ++s) {
      const auto hot = hn::RebindMask(d, hn::Eq(targets, hn::Set(integers, static_cast<std::int32_t>(s))));
      const V logit = hn::LoadU(d, logits + s * lanes), weight = hn::LoadU(d, gradient + s * lanes);
      V into_logit;
      if (l1) {
        const V from_target = hn::IfThenElseZero(hot, hn::Div(hn::Set(d, 1.0f), weight));
        into_logit = hn::IfThenElseZero(hn::Gt(logit, zero), hn::Sub(hn::Div(hn::Set(d, 1.0f), sum), from_target));
      } else {
        into_logit = hn::Div(hn::Sub(weight, hn::IfThenElseZero(hot, sum)), sum);  // a sure target has no 1 - 1
      }
      hn::StoreU(hn::Mul(into_logit, scale), d, gradient + s * lanes);
    }
  }
  const V log_p =
      l1 ? hn::Log(d, hn::Div(weight_of_target, sum)) : hn::Sub(hn::Sub(logit_of_target, shift), hn::Log(d, sum));
  return hn::IfThenElseZero(hn::RebindMask(d, hn::Gt(targets, hn::Set(integers, -1))), log_p);
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_READ_OUT_INL_H_
