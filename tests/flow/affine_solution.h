// The closed form of dz/dt = J z + c: the matrix exponential of t [[J, c], [0, 0]], by its series and squarings.
#pragma once

#include <cmath>
#include <vector>

#include "core/flow/affine_field.h"
#include "core/flow/dense_matrix.h"

inline std::vector<double> affine_solution(const mambarium::AffineField& field, const std::vector<double>& start,
                                           double time) {
  const std::int64_t size = field.r + 1;
  std::vector<double> matrix(size * size);
  double sum = 0;
  for (std::int64_t i = 0; i < field.r; ++i) {
    for (std::int64_t j = 0; j < field.r; ++j) matrix[i * size + j] = time * field.J[i * field.r + j];
    matrix[i * size + field.r] = time * field.c[i];
  }
  for (const double value : matrix) sum += std::abs(value);
  int squarings = 0;
  for (; sum > 0.1; sum /= 2) ++squarings;
  for (double& value : matrix) value = std::ldexp(value, -squarings);
  std::vector<double> exponential(size * size), term(size * size);
  for (std::int64_t i = 0; i < size; ++i) exponential[i * size + i] = term[i * size + i] = 1;
  for (int order = 1; order <= 14; ++order) {
    term = mambarium::multiply(term, size, size, matrix, size);
    for (std::int64_t i = 0; i < size * size; ++i) exponential[i] += term[i] /= order;
  }
  for (int squaring = 0; squaring < squarings; ++squaring)
    exponential = mambarium::multiply(exponential, size, size, exponential, size);
  std::vector<double> z(field.r);
  for (std::int64_t i = 0; i < field.r; ++i) {
    z[i] = exponential[i * size + field.r];
    for (std::int64_t j = 0; j < field.r; ++j) z[i] += exponential[i * size + j] * start[j];
  }
  return z;
}
