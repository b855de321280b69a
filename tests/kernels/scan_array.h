// What the tests of the scans over channels keep their numbers in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/kernels/rows.h"

namespace mambarium::kernels {

// [batch, length, width] with `gap` numbers behind each row that must stay as they are.
template <class Real>
struct Array {
  Array(std::int64_t batch_, std::int64_t length_, std::int64_t width_, std::int64_t gap = 0)
      : batch(batch_), length(length_), width(width_), stride(width_ + gap) {
    numbers.assign(static_cast<std::size_t>(batch * length * stride), untouched);
  }
  template <class Other>
  explicit Array(const Array<Other>& other) : Array(other.batch, other.length, other.width) {
    for (std::int64_t i = 0; i < count(); ++i) {
      (*this)[i] = static_cast<Real>(other[i]);
    }
  }
  std::int64_t count() const { return batch * length * width; }
  Real& operator[](std::int64_t i) { return numbers[static_cast<std::size_t>(i / width * stride + i % width)]; }
  Real operator[](std::int64_t i) const { return const_cast<Array&>(*this)[i]; }
  Real* data() { return numbers.data(); }
  const Real* data() const { return numbers.data(); }
  Rows<Real> rows() { return {numbers.data(), length * stride, stride}; }
  Rows<const Real> rows() const { return {numbers.data(), length * stride, stride}; }
  bool gaps_untouched() const {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (static_cast<std::int64_t>(i) % stride >= width && numbers[i] != untouched) {
        return false;
      }
    }
    return true;
  }

  static constexpr Real untouched = Real(12345.5);
  std::int64_t batch, length, width, stride;
  std::vector<Real> numbers;
};

// The largest difference in parts of the largest number; infinite where one is not finite.
inline double relative_difference(const Array<float>& found, const Array<double>& expected) {
  double largest = 0, difference = 0;
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double off = std::abs(static_cast<double>(found[i]) - expected[i]);
    difference = std::isfinite(off) ? std::max(difference, off) : HUGE_VAL;
  }
  constexpr double nothing = 1e-20;  // where every decay is below exp(-87), float32 has zeros and float64 has not
  return difference / std::max(largest, nothing);
}

}  // namespace mambarium::kernels
