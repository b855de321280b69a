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
using Integers = hn::RebindToSigned<D>;

HWY_INLINE V Maximum(D d, std::int64_t states, const float* logits) {
  V largest = hn::LoadU(d, logits);
  for (std::int64_t s = 1; s < states; ++s) {
    const V logit = hn::LoadU(d, logits + s * lanes);
    largest = hn::IfThenElse(hn::Gt(logit, largest), logit, largest);
  }
  return largest;
}

// One vector of predictions: logits [states][lanes] become log-probabilities; `gradient`, where wanted, becomes scale
// times d(-log p_target) / d logit. Returns log p_target.
HWY_INLINE V ReadOut(std::int64_t states, bool l1, float* logits, hn::Vec<Integers> targets, V scale, float* gradient) {
  const D d;
  const Integers integers;
  const V floor = hn::Set(d, l1_floor), zero = hn::Zero(d);
  V sum = zero, shift = zero;
  if (l1) {
    for (std::int64_t s = 0; s < states; ++s) {
      sum = hn::Add(sum, hn::Add(Activated<Activation::relu>(d, hn::LoadU(d, logits + s * lanes)), floor));
    }
  } else {
    shift = Maximum(d, states, logits);
    for (std::int64_t s = 0; s < states; ++s) {
      sum = hn::Add(sum, FaithfulExp(d, hn::Sub(hn::LoadU(d, logits + s * lanes), shift)));
    }
  }
  const V log_sum = hn::Log(d, sum), inverse = hn::Div(hn::Set(d, 1.0f), sum);
  V log_p_target = zero;
  for (std::int64_t s = 0; s < states; ++s) {
    const V logit = hn::LoadU(d, logits + s * lanes);
    const V weight = hn::Add(Activated<Activation::relu>(d, logit), floor);
    const V log_p = l1 ? hn::Sub(hn::Log(d, weight), log_sum) : hn::Sub(hn::Sub(logit, shift), log_sum);
    const auto hot = hn::RebindMask(d, hn::Eq(targets, hn::Set(integers, static_cast<std::int32_t>(s))));
    log_p_target = hn::IfThenElse(hot, log_p, log_p_target);
    if (gradient != nullptr) {
      const V one_hot = hn::IfThenElseZero(hot, hn::Set(d, 1.0f));
      const V into_logit = l1 ? hn::IfThenElseZero(hn::Gt(logit, zero), hn::Sub(inverse, hn::Div(one_hot, weight)))
                              : hn::Sub(FaithfulExp(d, log_p), one_hot);
      hn::StoreU(hn::Mul(into_logit, scale), d, gradient + s * lanes);
    }
  }
  return log_p_target;
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_READ_OUT_INL_H_
