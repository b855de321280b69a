// Sums over parts that several blocks of work have written, in the order of the parts.
//
//   out(b, t, c) = sum over k < parts of from[b * of_sequence + t * of_row + c * of_column + k * of_part]
#pragma once

#include "core/kernels/rows.h"
#include "gpu/stages/panel.h"

namespace mambarium::gpu {

struct PartSums {
  int batch = 1, length = 1, width = 1, parts = 1;
  const float* from = nullptr;
  std::int64_t of_sequence = 0, of_row = 0, of_column = 1, of_part = 0;
  kernels::Rows<float> out;

  MAMBARIUM_HOST_DEVICE std::int64_t count() const { return static_cast<std::int64_t>(batch) * length * width; }
  // The i-th of the sums.
  MAMBARIUM_HOST_DEVICE void sum(std::int64_t i) const {
    const std::int64_t c = i % width, t = i / width % length, b = i / width / length;
    const float* first = from + b * of_sequence + t * of_row + c * of_column;
    float total = 0.0f;
    for (int k = 0; k < parts; ++k) total += first[k * of_part];
    out.data[b * out.sequence_stride + t * out.row_stride + c] = total;
  }
};

}  // namespace mambarium::gpu
