// Panel: rows of numbers inside a wider table, on either side of the border between CPU and GPU. Not owned; the stride
// counts numbers. Rows before the first have negative indices.
//
// Carve: arrays cut one after the other from one block of memory. Without a block it only counts, so that the code that
// takes the arrays also says how much memory they need.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/host_device.h"

namespace mambarium::gpu {

template <class Real>
struct Panel {
  Real* data = nullptr;
  std::int64_t stride = 0;

  MAMBARIUM_HOST_DEVICE Real& at(int t, int c) const { return data[t * stride + c]; }
  MAMBARIUM_HOST_DEVICE Panel from_row(int t) const { return {data + t * stride, stride}; }
  MAMBARIUM_HOST_DEVICE Panel from_column(int c) const { return {data + c, stride}; }
  MAMBARIUM_HOST_DEVICE operator Panel<const Real>() const requires(!std::is_const_v<Real>) { return {data, stride}; }
};
using Numbers = Panel<const float>;
using NumbersOut = Panel<float>;

class Carve {
 public:
  MAMBARIUM_HOST_DEVICE explicit Carve(float* block) : block_(block) {}
  MAMBARIUM_HOST_DEVICE float* floats(std::int64_t count) {
    const std::int64_t first = used_;
    used_ += count;
    return block_ == nullptr ? nullptr : block_ + first;
  }
  // `before` more rows at negative indices.
  MAMBARIUM_HOST_DEVICE NumbersOut rows(int count, int width, int before = 0) {
    float* const first = floats(static_cast<std::int64_t>(before + count) * width);
    return {first == nullptr ? nullptr : first + static_cast<std::int64_t>(before) * width, width};
  }
  MAMBARIUM_HOST_DEVICE std::int64_t used() const { return used_; }

 private:
  float* block_;
  std::int64_t used_ = 0;
};

}  // namespace mambarium::gpu
