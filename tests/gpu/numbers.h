// Random arrays and how far two arrays are apart, for the tests of gpu/.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/kernels/rows.h"

namespace mambarium::gpu {

// [batch, length, width] with a gap behind every row, which nothing may touch.
template <class Real>
class Table {
 public:
  Table(std::int64_t batch, std::int64_t length, std::int64_t width, std::int64_t gap = 0)
      : batch_(batch), length_(length), width_(width), stride_(width + gap) {
    numbers.assign(static_cast<std::size_t>(batch * length * stride_), guard);
  }
  template <class Draw>
  Table& fill(const Draw& draw) {
    each([&](Real& number) { number = static_cast<Real>(draw()); });
    return *this;
  }
  template <class Work>
  void each(const Work& work) {
    for (std::int64_t row = 0; row < batch_ * length_; ++row) {
      for (std::int64_t c = 0; c < width_; ++c) work(numbers[static_cast<std::size_t>(row * stride_ + c)]);
    }
  }
  Real& at(std::int64_t b, std::int64_t t, std::int64_t c) {
    return numbers[static_cast<std::size_t>((b * length_ + t) * stride_ + c)];
  }
  kernels::Rows<Real> rows() { return {numbers.data(), length_ * stride_, stride_}; }
  kernels::Rows<const Real> rows() const { return {numbers.data(), length_ * stride_, stride_}; }
  std::vector<double> values() const {
    std::vector<double> result;
    const_cast<Table*>(this)->each([&](Real& number) { result.push_back(static_cast<double>(number)); });
    return result;
  }
  Table<double> doubles() const {
    Table<double> result(batch_, length_, width_);
    result.numbers = values();
    return result;
  }
  bool gaps_untouched() const {
    const auto touched = [&](std::size_t i) {
      return static_cast<std::int64_t>(i) % stride_ >= width_ && numbers[i] != guard;
    };
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (touched(i)) return false;
    }
    return true;
  }

  std::vector<Real> numbers;

 private:
  static constexpr Real guard = Real(12345.5);
  std::int64_t batch_, length_, width_, stride_;
};

// Relative to the largest number expected; infinite where something is not a number.
inline double relative_difference(const std::vector<double>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size()) return HUGE_VAL;
  double largest = 1e-30, off = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double difference = std::abs(found[i] - expected[i]);
    off = std::max(off, std::isfinite(difference) ? difference : HUGE_VAL);
  }
  return off / largest;
}

template <class Real>
std::vector<double> as_doubles(const std::vector<Real>& numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace mambarium::gpu
