#include "core/flow/affine_field.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace mambarium {

void AffineField::operator()(std::span<const double> z, std::span<double> v) const {
  const double* row = J.data();
  for (std::int64_t i = 0; i < r; ++i, row += r) {
    double sum = c[i];
    for (std::int64_t j = 0; j < r; ++j) sum += row[j] * z[j];
    v[i] = sum;
  }
}

void check_field(const AffineField& field) {
  const std::int64_t r = field.r;
  if (r < 1 || std::ssize(field.J) != r * r || std::ssize(field.c) != r)
    throw std::invalid_argument("affine field: J holds " + std::to_string(field.J.size()) + " numbers and c " +
                                std::to_string(field.c.size()) + ", but r is " + std::to_string(r) +
                                "; r * r and r are needed, r at least 1");
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(field.J, finite) || !std::ranges::all_of(field.c, finite))
    throw std::invalid_argument("affine field: J or c holds a number that is not finite");
}

}  // namespace mambarium
