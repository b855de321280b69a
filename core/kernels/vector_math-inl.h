// What the vectorised kernels share, compiled once per SIMD target (Highway). Include after hwy/foreach_target.h.
//
// Loads and stores of n < Lanes(d) numbers never touch memory beyond them. NaN passes through every function.

#if defined(MAMBARIUM_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_VECTOR_MATH_INL_H_
#undef MAMBARIUM_KERNELS_VECTOR_MATH_INL_H_
#else
#define MAMBARIUM_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "core/kernels/activation.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using Integers = hn::RebindToSigned<D>;
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(HWY_LANES(float));

// The next multiple of lanes.
inline std::int64_t WholeVectors(std::int64_t width) {
  return (width + lanes - 1) / lanes * lanes;
}

HWY_INLINE V LoadSome(D d, const float* from, std::int64_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) float padded[lanes] = {};
  std::copy_n(from, count, padded);
  return hn::Load(d, padded);
#else
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, from);
#endif
}

HWY_INLINE void StoreSome(V value, D d, float* to, std::int64_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) float padded[lanes];
  hn::Store(value, d, padded);
  std::copy_n(padded, count, to);
#else
  hn::BlendedStore(value, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
#endif
}

// work(column, count) for every vector of a row; the count is lanes but for the last.
template <class Work>
HWY_INLINE void ForEachVector(std::int64_t width, const Work& work) {
  std::int64_t column = 0;
  for (; column + lanes <= width; column += lanes) {
    work(column, lanes);
  }
  if (column < width) {
    work(column, width - column);
  }
}

HWY_INLINE V LoadUpTo(D d, const float* from, std::int64_t count) {
  return count == lanes ? hn::LoadU(d, from) : LoadSome(d, from, count);
}

HWY_INLINE void StoreUpTo(V value, D d, float* to, std::int64_t count) {
  if (count == lanes) {
    hn::StoreU(value, d, to);
  } else {
    StoreSome(value, d, to, count);
  }
}

HWY_INLINE float SumOf(D d, V value) {
  return hn::GetLane(hn::SumOfLanes(d, value));
}

// The sums of four vectors, as four neighbouring numbers: written, or added to what is there.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void StoreSums(D, V v0, V v1, V v2, V v3, float* to, bool add) {
  const float sums[4] = {hn::GetLane(v0), hn::GetLane(v1), hn::GetLane(v2), hn::GetLane(v3)};
  for (int i = 0; i < 4; ++i) {
    to[i] = add ? to[i] + sums[i] : sums[i];
  }
}
#else
template <class DX, class VX>
HWY_INLINE auto FoldToFour([[maybe_unused]] DX d, VX value) {
  if constexpr (hn::MaxLanes(DX()) == 4) {
    return value;
  } else {
    const hn::Half<DX> half;
    return FoldToFour(half, hn::Add(hn::LowerHalf(half, value), hn::UpperHalf(half, value)));
  }
}
HWY_INLINE void StoreSums(D d, V v0, V v1, V v2, V v3, float* to, bool add) {
  const V evens = hn::Add(hn::InterleaveLower(d, v0, v2), hn::InterleaveUpper(d, v0, v2));
  const V odds = hn::Add(hn::InterleaveLower(d, v1, v3), hn::InterleaveUpper(d, v1, v3));
  const auto sums = FoldToFour(d, hn::Add(hn::InterleaveLower(d, evens, odds), hn::InterleaveUpper(d, evens, odds)));
  const hn::FixedTag<float, 4> d4;
  hn::StoreU(add ? hn::Add(sums, hn::LoadU(d4, to)) : sums, d4, to);
}
#endif

// exp(x) = power (1 + p) for -87 <= x <= 88 in one range reduction: x = n ln 2 + r, power = 2^n, and p = exp(r) - 1 a
// polynomial of degree 6 in r (relative error 4e-9 of 1 + p, 6e-8 of p, before rounding). n is rounded by adding
// 1.5 2^23, which leaves it in the low bits.
HWY_INLINE V ReducedExpm1(D d, V x, V& power) {
  const hn::RebindToSigned<D> integers;
  const V rounding = hn::Set(d, 12582912.0f);
  const V rounded = hn::MulAdd(x, hn::Set(d, 1.44269504f), rounding);
  const V n = hn::Sub(rounded, rounding);
  const V r = hn::NegMulAdd(n, hn::Set(d, 1.428606765e-6f), hn::NegMulAdd(n, hn::Set(d, 0.693145752f), x));
  const V r2 = hn::Mul(r, r);
  const V low = hn::MulAdd(hn::Set(d, 0.166665211f), r, hn::Set(d, 0.49999994f));
  const V high =
      hn::MulAdd(hn::Set(d, 0.0013814539f), r2, hn::MulAdd(hn::Set(d, 0.00836874545f), r, hn::Set(d, 0.041668389f)));
  power = hn::BitCast(d, hn::Add(hn::ShiftLeft<23>(hn::BitCast(integers, rounded)), hn::Set(integers, 0x3f800000)));
  return hn::MulAdd(hn::MulAdd(high, r2, low), r2, r);
}

// exp(x) for -87 <= x <= 88, about twice as fast as Highway's.
HWY_INLINE V ExpInRange(D d, V x) {
  V power;
  const V p = ReducedExpm1(d, x, power);
  return hn::MulAdd(p, power, power);
}

// exp(x) for x <= 0, exactly 0 below -87. Max would lose a NaN on some targets.
HWY_INLINE V ExpOfNegative(D d, V x) {
  const V limit = hn::Set(d, -87.0f);
  const auto below = hn::Lt(x, limit);
  return hn::IfThenZeroElse(below, ExpInRange(d, hn::IfThenElse(below, limit, x)));
}

// The same bits down to -87 and at most 2e-38 below, and exp(x) - 1 to a few roundings however small x is. What comes
// of a NaN is not said.
HWY_INLINE V ExpOfNegative(D d, V x, V& expm1) {
  V power;
  const V p = ReducedExpm1(d, hn::Max(x, hn::Set(d, -87.0f)), power);
  expm1 = hn::MulAdd(p, power, hn::Sub(power, hn::Set(d, 1.0f)));
  return hn::MulAdd(p, power, power);
}

// 1 / x for 1 <= x < 2^126: AVX-512 divides slowly, and its approximation needs one Newton step.
HWY_INLINE V Reciprocal(D d, V x) {
  if constexpr (lanes == 16) {
    const V guess = hn::ApproximateReciprocal(x);
    return hn::Mul(guess, hn::NegMulAdd(x, guess, hn::Set(d, 2.0f)));
  } else {
    return hn::Div(hn::Set(d, 1.0f), x);
  }
}

// s = 1 / (1 + exp(-x)), and 1 - s without the cancellation. Beyond 86 on either side the smaller one is cut to 0, so
// that its product with x is 0 as well.
HWY_INLINE V Sigmoid(D d, V x, V& complement) {
  const V limit = hn::Set(d, 86.0f);
  const V e = ExpInRange(d, hn::Max(hn::Min(hn::Neg(x), limit), hn::Neg(limit)));
  const V value = Reciprocal(d, hn::Add(hn::Set(d, 1.0f), e));
  complement = hn::IfThenElseZero(hn::Le(x, limit), hn::Mul(e, value));
  return hn::IfThenElseZero(hn::Ge(x, hn::Neg(limit)), value);
}
HWY_INLINE V Sigmoid(D d, V x) {
  V unused;
  return Sigmoid(d, x, unused);
}

// exp that gives NaN for NaN, which Highway's does not.
HWY_INLINE V FaithfulExp(D d, V x) {
  return hn::IfThenElse(hn::Eq(x, x), hn::Exp(d, x), x);
}

// Both branches of log(1 + exp(x)) in one: max(x, 0) + log1p(exp(-|x|)).
HWY_INLINE V Softplus(D d, V x) {
  const V tail = hn::Log1p(d, hn::Exp(d, hn::Neg(hn::Abs(x))));
  const V value = hn::Add(hn::Max(x, hn::Zero(d)), tail);
  return hn::IfThenElse(hn::Eq(x, x), value, x);
}

template <Activation A>
HWY_INLINE V Activated(D d, V x) {
  if constexpr (A == Activation::silu) {
    return hn::Mul(x, Sigmoid(d, x));
  } else if constexpr (A == Activation::relu) {
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);
  } else {
    return x;
  }
}

// The value and its derivative.
template <Activation A>
HWY_INLINE V Activated(D d, V x, V& slope) {
  const V one = hn::Set(d, 1.0f);
  if constexpr (A == Activation::silu) {
    V complement;
    const V s = Sigmoid(d, x, complement);
    const V value = hn::Mul(x, s);
    slope = hn::MulAdd(value, complement, s);
    return value;
  } else if constexpr (A == Activation::relu) {
    slope = hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), one);
    return Activated<A>(d, x);
  } else {
    slope = one;
    return x;
  }
}

// work(std::integral_constant<Activation, ...>) for the activation that is wanted.
template <class Work>
HWY_INLINE void WithActivation(Activation activation, const Work& work) {
  switch (activation) {
    case Activation::silu:
      work(std::integral_constant<Activation, Activation::silu>());
      break;
    case Activation::relu:
      work(std::integral_constant<Activation, Activation::relu>());
      break;
    case Activation::none:
      work(std::integral_constant<Activation, Activation::none>());
      break;
  }
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_VECTOR_MATH_INL_H_
