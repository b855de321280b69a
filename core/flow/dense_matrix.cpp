#include "core/flow/dense_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mambarium {

std::vector<double> multiply(std::span<const double> a, std::int64_t rows, std::int64_t inner,
                             std::span<const double> b, std::int64_t columns) {
  std::vector<double> product(rows * columns);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < inner; ++k)
      for (std::int64_t column = 0; column < columns; ++column)
        product[row * columns + column] += a[row * inner + k] * b[k * columns + column];
  return product;
}

std::optional<LuFactors> LuFactors::of(std::vector<double> matrix, std::int64_t size) {
  double largest = 0;
  for (const double entry : matrix) {
    if (!std::isfinite(entry)) return std::nullopt;
    largest = std::max(largest, std::abs(entry));
  }
  const double smallest_pivot = static_cast<double>(size) * std::numeric_limits<double>::epsilon() * largest;
  std::vector<std::int64_t> rows(size);
  for (std::int64_t step = 0; step < size; ++step) {
    std::int64_t pivot = step;
    for (std::int64_t row = step + 1; row < size; ++row)
      if (std::abs(matrix[row * size + step]) > std::abs(matrix[pivot * size + step])) pivot = row;
    if (!(std::abs(matrix[pivot * size + step]) > smallest_pivot)) return std::nullopt;
    rows[step] = pivot;
    if (pivot != step)
      std::swap_ranges(matrix.begin() + step * size, matrix.begin() + (step + 1) * size, matrix.begin() + pivot * size);
    for (std::int64_t row = step + 1; row < size; ++row) {
      const double factor = matrix[row * size + step] /= matrix[step * size + step];
      for (std::int64_t column = step + 1; column < size; ++column)
        matrix[row * size + column] -= factor * matrix[step * size + column];
    }
  }
  return LuFactors(std::move(matrix), std::move(rows));
}

void LuFactors::solve(std::span<double> x) const {
  const std::int64_t size = std::ssize(rows_);
  for (std::int64_t row = 0; row < size; ++row) std::swap(x[row], x[rows_[row]]);
  for (std::int64_t row = 0; row < size; ++row)
    for (std::int64_t column = 0; column < row; ++column) x[row] -= factors_[row * size + column] * x[column];
  for (std::int64_t row = size - 1; row >= 0; --row) {
    for (std::int64_t column = row + 1; column < size; ++column) x[row] -= factors_[row * size + column] * x[column];
    x[row] /= factors_[row * size + row];
  }
}

}  // namespace mambarium
