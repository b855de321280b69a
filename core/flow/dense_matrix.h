// Small dense matrices of double, row-major in a std::vector: a product, and linear equations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mambarium {

// a [rows, inner] times b [inner, columns].
std::vector<double> multiply(std::span<const double> a, std::int64_t rows, std::int64_t inner,
                             std::span<const double> b, std::int64_t columns);

// P M = L U with the largest pivot of each column. Immutable: any thread.
class LuFactors {
 public:
  // Nothing where M [size, size] is singular to working precision (a pivot of size * 2.2e-16 of the largest entry) or
  // holds a number that is not finite.
  static std::optional<LuFactors> of(std::vector<double> matrix, std::int64_t size);

  // x <- M^-1 x, size numbers.
  void solve(std::span<double> x) const;

 private:
  LuFactors(std::vector<double> factors, std::vector<std::int64_t> rows)
      : factors_(std::move(factors)), rows_(std::move(rows)) {}
  std::vector<double> factors_;     // L below the diagonal (its own is 1), U on and above
  std::vector<std::int64_t> rows_;  // row exchanged with row i at step i
};

}  // namespace mambarium
