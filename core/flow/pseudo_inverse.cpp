#include "core/flow/pseudo_inverse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace mambarium {
namespace {

// u [count, length]: its rows are made orthogonal to each other by rotations, which v [count, count] collects.
void make_orthogonal(std::vector<double>& u, std::vector<double>& v, std::int64_t count, std::int64_t length) {
  const auto rotate = [](std::vector<double>& rows, std::int64_t width, std::int64_t p, std::int64_t q, double cosine,
                         double sine) {
    for (std::int64_t k = 0; k < width; ++k) {
      const double x = rows[p * width + k], y = rows[q * width + k];
      rows[p * width + k] = cosine * x - sine * y;
      rows[q * width + k] = sine * x + cosine * y;
    }
  };
  constexpr int sweeps = 60;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    bool rotated = false;
    for (std::int64_t p = 0; p < count; ++p)
      for (std::int64_t q = p + 1; q < count; ++q) {
        double pp = 0, qq = 0, pq = 0;
        for (std::int64_t k = 0; k < length; ++k) {
          const double x = u[p * length + k], y = u[q * length + k];
          pp += x * x;
          qq += y * y;
          pq += x * y;
        }
        if (std::abs(pq) <= 1e-15 * std::sqrt(pp) * std::sqrt(qq)) continue;
        rotated = true;
        const double ratio = (qq - pp) / (2 * pq);
        const double tangent = std::copysign(1, ratio) / (std::abs(ratio) + std::hypot(ratio, 1));
        const double cosine = 1 / std::hypot(tangent, 1), sine = tangent * cosine;
        rotate(u, length, p, q, cosine, sine);
        rotate(v, count, p, q, cosine, sine);
      }
    if (!rotated) break;
  }
}

}  // namespace

PseudoInverse pseudo_inverse(std::span<const double> matrix, std::int64_t rows, std::int64_t columns) {
  if (rows < 1 || columns < 1 || std::ssize(matrix) != rows * columns)
    throw std::invalid_argument("pseudo-inverse: " + std::to_string(matrix.size()) + " numbers are no matrix of " +
                                std::to_string(rows) + " rows and " + std::to_string(columns) + " columns");
  double largest = 0;
  for (const double entry : matrix) {
    if (!std::isfinite(entry)) throw std::invalid_argument("pseudo-inverse: an entry of the matrix is not finite");
    largest = std::max(largest, std::abs(entry));
  }
  PseudoInverse result{std::vector<double>(columns * rows), std::vector<double>(std::min(rows, columns)), 0};
  if (largest == 0) return result;

  // V^T M = S U^T, so M^+ = U S^-1 V^T; scaled, that no square under- or overflows.
  std::vector<double> u(matrix.begin(), matrix.end()), v(rows * rows), lengths(rows);
  for (double& entry : u) entry /= largest;
  for (std::int64_t i = 0; i < rows; ++i) v[i * rows + i] = 1;
  make_orthogonal(u, v, rows, columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    double squares = 0;
    for (std::int64_t k = 0; k < columns; ++k) squares += u[i * columns + k] * u[i * columns + k];
    lengths[i] = std::sqrt(squares);
  }
  const double threshold = static_cast<double>(std::max(rows, columns)) * std::numeric_limits<double>::epsilon() *
                           *std::ranges::max_element(lengths);
  for (std::int64_t i = 0; i < rows; ++i) {
    if (lengths[i] <= threshold) continue;
    ++result.rank;
    for (std::int64_t column = 0; column < columns; ++column)
      for (std::int64_t row = 0; row < rows; ++row)
        result.matrix[column * rows + row] +=
            u[i * columns + column] * v[i * rows + row] / (lengths[i] * lengths[i]) / largest;
  }
  std::ranges::sort(lengths, std::ranges::greater());
  for (std::int64_t i = 0; i < std::ssize(result.singular_values); ++i)
    result.singular_values[i] = lengths[i] * largest;
  return result;
}

}  // namespace mambarium
