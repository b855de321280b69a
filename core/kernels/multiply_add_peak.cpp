#include "core/kernels/multiply_add_peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/multiply_add_peak.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

// Enough independent sums for two multiply-adds a cycle, each of which takes four or five.
constexpr int sums = 12;

std::int64_t MultiplyAdds(std::int64_t rounds, float& sum) {
  const D d;
  V total[sums];
  for (int i = 0; i < sums; ++i) total[i] = hn::Set(d, static_cast<float>(i));
  const V factor = hn::Set(d, 0.999f + 1e-9f * sum), term = hn::Set(d, 0.001f);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < sums; ++i) total[i] = hn::MulAdd(total[i], factor, term);
  }
  for (int i = 1; i < sums; ++i) total[0] = hn::Add(total[0], total[i]);
  sum = SumOf(d, total[0]);
  return rounds * sums * lanes;
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(MultiplyAdds);

std::int64_t multiply_adds(std::int64_t rounds, float& sum) {
  return HWY_DYNAMIC_DISPATCH(MultiplyAdds)(rounds, sum);
}

}  // namespace mambarium::kernels
#endif
