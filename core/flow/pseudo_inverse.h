// The Moore-Penrose inverse by a singular value decomposition (one-sided Jacobi rotations).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mambarium {

struct PseudoInverse {
  std::vector<double> matrix;           // [columns, rows]
  std::vector<double> singular_values;  // min(rows, columns), the largest first
  std::int64_t rank = 0;                // singular values above max(rows, columns) * 2.2e-16 of the largest
};

// Of matrix [rows, columns]; singular values that do not count towards the rank are taken as 0. Throws
// std::invalid_argument where the entries are not rows * columns or one is not finite.
PseudoInverse pseudo_inverse(std::span<const double> matrix, std::int64_t rows, std::int64_t columns);

}  // namespace mambarium
