#include "core/flow/fixed_point.h"

#include <algorithm>
#include <cmath>

#include "core/flow/dense_matrix.h"
#include "core/flow/eigenvalues.h"

namespace mambarium {
namespace {

constexpr std::int64_t largest_with_directions = 16;
constexpr double neutral_tolerance = 1e-9, real_tolerance = 1e-7;

double largest_size(std::span<const std::complex<double>> eigenvalues) {
  double largest = 0;
  for (const auto& eigenvalue : eigenvalues) largest = std::max(largest, std::abs(eigenvalue));
  return largest;
}

// |1 + w| - 1 without the cancellation of small w.
double growth(std::complex<double> w, FieldKind kind) {
  if (kind == FieldKind::velocity) return w.real();
  return (2 * w.real() + std::norm(w)) / (std::abs(1.0 + w) + 1);
}

std::string directions(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " direction" : " directions");
}

}  // namespace

bool is_complex(std::complex<double> eigenvalue, std::span<const std::complex<double>> eigenvalues) {
  return std::abs(eigenvalue.imag()) > real_tolerance * largest_size(eigenvalues);
}

Stability stability(std::span<const std::complex<double>> eigenvalues, FieldKind kind) {
  Stability result;
  const double scale = largest_size(eigenvalues);
  bool neutral_real = false;
  for (const auto& eigenvalue : eigenvalues) {
    const bool complex = is_complex(eigenvalue, eigenvalues);
    const double rate = growth(eigenvalue, kind);
    result.rotates |= complex;
    if (std::abs(rate) <= neutral_tolerance * scale) {
      ++result.neutral;
      neutral_real |= !complex;
    } else {
      ++(rate < 0 ? result.stable : result.unstable);
    }
  }
  using enum FixedPointType;
  if (neutral_real)
    result.type = degenerate;
  else if (result.stable > 0 && result.unstable > 0)
    result.type = saddle;
  else if (result.neutral > 0)
    result.type = centre;
  else if (result.unstable > 0)
    result.type = result.rotates ? unstable_focus : unstable_node;
  else
    result.type = result.rotates ? stable_focus : stable_node;
  return result;
}

std::string to_text(const Stability& stability) {
  using enum FixedPointType;
  const std::int64_t all = stability.stable + stability.unstable + stability.neutral;
  switch (stability.type) {
    case stable_node:
      return "stable node";
    case unstable_node:
      return "unstable node";
    case stable_focus:
      return "stable focus";
    case unstable_focus:
      return "unstable focus";
    case saddle:
      if (all == 2) return "saddle";
      return std::string(stability.rotates ? "saddle with rotation, " : "saddle, ") + std::to_string(stability.stable) +
             (stability.stable == 1 ? " stable direction and " : " stable directions and ") +
             std::to_string(stability.unstable) + " unstable";
    case centre:
      if (all == stability.neutral) return "centre";
      return std::string("centre in ") + directions(stability.neutral) + ", " +
             (stability.stable > 0 ? directions(stability.stable) + " stable"
                                   : directions(stability.unstable) + " unstable");
    case degenerate:
      break;
  }
  return "degenerate, " + directions(stability.neutral) + " without growth or decay";
}

std::optional<FixedPoint> fixed_point(const AffineField& field) {
  check_field(field);
  const auto factors = LuFactors::of(field.J, field.r);
  if (!factors) return std::nullopt;
  FixedPoint point;
  point.z.resize(field.r);
  std::ranges::transform(field.c, point.z.begin(), std::negate());
  factors->solve(point.z);
  if (!std::ranges::all_of(point.z, [](double value) { return std::isfinite(value); })) return std::nullopt;
  point.eigenvalues = eigenvalues(field.J, field.r);
  point.stability = stability(point.eigenvalues, field.kind);
  for (std::int64_t i = 0; i < field.r; ++i) {
    const auto eigenvalue = point.eigenvalues[i];
    point.directions.emplace_back();
    if (field.r <= largest_with_directions && !is_complex(eigenvalue, point.eigenvalues))
      point.directions.back() = real_eigenvector(field.J, field.r, eigenvalue.real(), i);
  }
  return point;
}

}  // namespace mambarium
