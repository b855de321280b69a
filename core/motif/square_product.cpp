#include "core/motif/square_product.h"

#include <algorithm>

namespace mambarium {

std::vector<double> square_product(std::span<const double> left, std::span<const double> right, std::size_t n) {
  // As many rows of `right` at a time as stay in a cache.
  constexpr std::size_t rows_together = 64;
  std::vector<double> product(n * n);
  for (std::size_t begin = 0; begin < n; begin += rows_together) {
    const std::size_t end = std::min(n, begin + rows_together);
    for (std::size_t i = 0; i < n; ++i) {
      double* const out = &product[i * n];
      for (std::size_t k = begin; k < end; ++k) {
        const double factor = left[i * n + k];
        if (factor == 0) continue;  // graphs are sparse
        const double* const row = &right[k * n];
        for (std::size_t j = 0; j < n; ++j) out[j] += factor * row[j];
      }
    }
  }
  return product;
}

std::vector<double> square_transpose(std::span<const double> matrix, std::size_t n) {
  std::vector<double> transposed(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) transposed[j * n + i] = matrix[i * n + j];
  return transposed;
}

double inner_product(std::span<const double> left, std::span<const double> right) {
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum += left[i] * right[i];
  return sum;
}

}  // namespace mambarium
