// The fixed point of an affine field and what happens near it.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/flow/affine_field.h"

namespace mambarium {

// node: every eigenvalue real. focus: some are complex, everything goes in, or everything goes out. saddle: some
// directions in, others out. centre: complex pairs neither in nor out, no saddle otherwise. degenerate: a real
// direction neither in nor out, so that fixed points are not isolated or there is none.
enum class FixedPointType { stable_node, unstable_node, stable_focus, unstable_focus, saddle, centre, degenerate };

struct Stability {
  FixedPointType type = FixedPointType::degenerate;
  std::int64_t stable = 0, unstable = 0, neutral = 0;  // directions: r together
  bool rotates = false;                                // some eigenvalues are complex
  bool operator==(const Stability&) const = default;
};

// Whether one of them counts as complex: rounding leaves an imaginary part within 1e-7 of the largest one's size.
bool is_complex(std::complex<double> eigenvalue, std::span<const std::complex<double>> eigenvalues);

// Of the eigenvalues of J. A growth rate (real part; |1 + eigenvalue| - 1 of a displacement) within 1e-9 of the largest
// eigenvalue's size is neutral: rounding leaves such.
Stability stability(std::span<const std::complex<double>> eigenvalues, FieldKind kind);

// "stable focus"; with three directions and more "saddle, 2 stable directions and 1 unstable" and the like.
std::string to_text(const Stability& stability);

struct FixedPoint {
  std::vector<double> z;  // [r]: v(z) = 0
  // Of J, the largest real part first. Of a velocity they are rates, a unit of its time; of a displacement w makes z
  // 1 + w times as large in one token.
  std::vector<std::complex<double>> eigenvalues;
  // Per real eigenvalue its direction, length 1; empty for the complex ones, and for all where r > 16.
  std::vector<std::vector<double>> directions;
  Stability stability;
};

// Nothing where J is singular to working precision: then there is no fixed point, or a whole line of them. Throws
// std::invalid_argument as check_field does.
std::optional<FixedPoint> fixed_point(const AffineField& field);

}  // namespace mambarium
