// Rows of numbers of as many sequences as a vector has lanes, compiled once per SIMD target. Include after
// hwy/foreach_target.h.
//
// Number c of row t of sequence i lies at data[(t * width + c) * lanes + i]: one load takes the same number of all the
// sequences, so that no kernel here sums across lanes or masks a width. Rows are 64-byte aligned where lanes allow it.
// A sequence that a batch lacks is a lane like the others whose loss has weight 0.

#if defined(MAMBARIUM_KERNELS_LANES_LANE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_LANE_ROWS_INL_H_
#undef MAMBARIUM_KERNELS_LANES_LANE_ROWS_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_LANE_ROWS_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "core/kernels/scratch.h"
#include "core/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

template <class Real>
struct LaneRows {
  Real* data = nullptr;
  std::int64_t width = 0;

  HWY_INLINE Real* at(std::int64_t t, std::int64_t c) const { return data + (t * width + c) * lanes; }
  LaneRows from_row(std::int64_t t) const { return {at(t, 0), width}; }
  LaneRows from_column(std::int64_t c) const { return {at(0, c), width}; }
  operator LaneRows<const Real>() const requires(!std::is_const_v<Real>) { return {data, width}; }
};
using Numbers = LaneRows<const float>;
using NumbersOut = LaneRows<float>;

inline NumbersOut TakeRows(Scratch& scratch, std::int64_t rows, std::int64_t width) {
  return {scratch.floats(rows * width * lanes), width};
}

HWY_INLINE V At(Numbers rows, std::int64_t t, std::int64_t c) {
  return hn::Load(D(), rows.at(t, c));
}
HWY_INLINE void Put(V value, NumbersOut rows, std::int64_t t, std::int64_t c) {
  hn::Store(value, D(), rows.at(t, c));
}
HWY_INLINE void Add(V value, NumbersOut rows, std::int64_t t, std::int64_t c) {
  hn::Store(hn::Add(value, At(rows, t, c)), D(), rows.at(t, c));
}
HWY_INLINE V All(float value) {
  return hn::Set(D(), value);
}
HWY_INLINE V Nothing() {
  return hn::Zero(D());
}

inline void Fill(NumbersOut rows, std::int64_t count, float value) {
  std::fill_n(rows.data, count * rows.width * lanes, value);
}
inline void Copy(Numbers from, NumbersOut to, std::int64_t count) {
  if (from.data != to.data) std::copy_n(from.data, count * from.width * lanes, to.data);
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_LANE_ROWS_INL_H_
