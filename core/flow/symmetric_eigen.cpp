#include "core/flow/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mambarium {

SymmetricEigen symmetric_eigen(std::span<const double> matrix, std::int64_t size) {
  std::vector<double> a(matrix.begin(), matrix.end()), v(size * size);
  for (std::int64_t i = 0; i < size; ++i) {
    v[i * size + i] = 1;
    for (std::int64_t j = 0; j < i; ++j) a[i * size + j] = a[j * size + i];
  }
  constexpr int sweeps = 60;  // it takes about 8; a matrix with NaN must end too
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    bool rotated = false;
    for (std::int64_t p = 0; p < size; ++p)
      for (std::int64_t q = p + 1; q < size; ++q) {
        const double off = a[p * size + q], app = a[p * size + p], aqq = a[q * size + q];
        if (std::abs(off) <= 1e-16 * std::sqrt(std::abs(app * aqq)) || std::abs(off) < 1e-300) continue;
        rotated = true;
        const double ratio = (aqq - app) / (2 * off);
        const double tangent = std::copysign(1, ratio) / (std::abs(ratio) + std::hypot(ratio, 1));
        const double cosine = 1 / std::hypot(tangent, 1), sine = tangent * cosine;
        for (std::int64_t k = 0; k < size; ++k) {
          const double x = a[k * size + p], y = a[k * size + q];
          a[k * size + p] = cosine * x - sine * y;
          a[k * size + q] = sine * x + cosine * y;
        }
        for (std::int64_t k = 0; k < size; ++k) {
          const double x = a[p * size + k], y = a[q * size + k];
          a[p * size + k] = cosine * x - sine * y;
          a[q * size + k] = sine * x + cosine * y;
        }
        a[p * size + q] = a[q * size + p] = 0;
        for (std::int64_t k = 0; k < size; ++k) {
          const double x = v[k * size + p], y = v[k * size + q];
          v[k * size + p] = cosine * x - sine * y;
          v[k * size + q] = sine * x + cosine * y;
        }
      }
    if (!rotated) break;
  }
  std::vector<std::int64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int64_t i, std::int64_t j) { return a[i * size + i] > a[j * size + j]; });
  SymmetricEigen result{std::vector<double>(size), std::vector<double>(size * size)};
  for (std::int64_t to = 0; to < size; ++to) {
    const std::int64_t from = order[to];
    result.values[to] = a[from * size + from];
    double top = 0;
    for (std::int64_t k = 0; k < size; ++k)
      if (std::abs(v[k * size + from]) > std::abs(top)) top = v[k * size + from];
    for (std::int64_t k = 0; k < size; ++k) result.vectors[k * size + to] = std::copysign(1, top) * v[k * size + from];
  }
  return result;
}

}  // namespace mambarium
