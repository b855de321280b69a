// How the coupled scan lays out what it keeps and sums of one sequence, whatever the vector instructions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/kernels/coupled_scan.h"
#include "core/kernels/diagonal_scan_layout.h"

namespace mambarium::kernels {

struct CoupledScanLayout : DiagonalScanLayout {
  explicit CoupledScanLayout(const CoupledScanShape& shape)
      : DiagonalScanLayout(shape.diagonal()), width(shape.per_channel ? channels : widest_vector) {}

  std::int64_t pairs(std::int64_t rank) const { return states * rank * width; }

  std::int64_t width;  // of a row of sums for P or Q: the channels, or what the lanes of a vector sum for all of them
};

// Gradients of A [states][channels] (`first`) and of P and Q [states * rank][width], in one block of `count` numbers.
struct CoupledScanSums {
  float *first = nullptr, *P = nullptr, *Q = nullptr;
  std::int64_t count = 0;
};

inline bool is_coupled(const CoupledScanShape& shape, const float* P) {
  const std::int64_t count = (shape.per_channel ? shape.channels : 1) * shape.d_state * shape.rank;
  return std::any_of(P, P + count, [](float value) { return value != 0; });
}

}  // namespace mambarium::kernels
