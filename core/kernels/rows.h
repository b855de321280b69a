// Views of rows of numbers inside wider tensors. Pointers are not owned; strides count elements.
#pragma once

#include <cstdint>
#include <type_traits>

namespace mambarium::kernels {

// [length, width] of one sequence: numbers of a row are contiguous, rows lie `stride` apart.
template <class Real>
struct Strided {
  Real* data = nullptr;
  std::int64_t stride = 0;
  Real* row(std::int64_t t) const { return data + t * stride; }
  Strided columns(std::int64_t first) const { return {data + first, stride}; }
  operator Strided<const Real>() const requires(!std::is_const_v<Real>) { return {data, stride}; }
};

// [batch, length, width].
template <class Real>
struct Rows {
  Real* data = nullptr;
  std::int64_t sequence_stride = 0, row_stride = 0;
  Real* row(std::int64_t b, std::int64_t t) const { return data + b * sequence_stride + t * row_stride; }
  Strided<Real> sequence(std::int64_t b) const { return {data + b * sequence_stride, row_stride}; }
  operator Rows<const Real>() const requires(!std::is_const_v<Real>) { return {data, sequence_stride, row_stride}; }
};

}  // namespace mambarium::kernels
