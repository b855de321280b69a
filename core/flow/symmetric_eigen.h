// Eigenvalues and eigenvectors of a symmetric matrix by Jacobi's rotations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mambarium {

struct SymmetricEigen {
  std::vector<double> values;   // [size], the largest first
  std::vector<double> vectors;  // [size, size]; column i belongs to values[i], length 1, its largest entry positive
};

// Of matrix [size, size], of which only the upper triangle is read.
SymmetricEigen symmetric_eigen(std::span<const double> matrix, std::int64_t size);

}  // namespace mambarium
