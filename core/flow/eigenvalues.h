// Eigenvalues of any real matrix: balancing, Hessenberg form by Householder reflections, then the implicitly
// double-shifted QR iteration of Francis, real arithmetic throughout (Golub and Van Loan, Matrix
// Computations, 7.4-7.5).
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mambarium {

// All `size` eigenvalues of matrix [size, size], the largest real part first; complex ones in exactly conjugate pairs,
// the one with the positive imaginary part first. Throws std::invalid_argument where an entry is not finite or the
// entries are not size * size.
std::vector<std::complex<double>> eigenvalues(std::span<const double> matrix, std::int64_t size);

// A vector of length 1 that the matrix maps to `value` times itself, by inverse iteration from a start that depends on
// `which`, so that a repeated eigenvalue with several directions gives several. Its largest entry is positive.
// Throws std::invalid_argument where a number is not finite.
std::vector<double> real_eigenvector(std::span<const double> matrix, std::int64_t size, double value,
                                     std::int64_t which = 0);

}  // namespace mambarium
