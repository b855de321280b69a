// AffineField: v(z) = J z + c, what every flow field of a linear coupled scan is while its input stands still.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mambarium {

// What v means decides what a stable fixed point is: of a velocity dz/dt when every eigenvalue of J has a negative real
// part, of a displacement z_{t+1} - z_t when every 1 + eigenvalue is inside the unit circle.
enum class FieldKind { velocity, displacement };

struct AffineField {
  std::int64_t r = 0;
  std::vector<double> J;  // [r, r]
  std::vector<double> c;  // [r]
  FieldKind kind = FieldKind::velocity;

  std::int64_t dimension() const { return r; }
  // v <- J z + c. Neither checks nor allocates.
  void operator()(std::span<const double> z, std::span<double> v) const;
};

// Throws std::invalid_argument unless r >= 1, J has r * r numbers, c has r, all finite.
void check_field(const AffineField& field);

}  // namespace mambarium
