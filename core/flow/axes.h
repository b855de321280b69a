// Axes: which two or three directions of an r-dimensional latent space are drawn, and through which point.
//
//     y = W^T (z - origin)      z = origin + W y      the columns of W orthonormal
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/flow/affine_field.h"
#include "core/flow/trajectory.h"

namespace mambarium {

struct Axes {
  std::int64_t r = 0, k = 0;
  std::vector<double> origin;      // [r]
  std::vector<double> directions;  // W [r, k]

  std::vector<double> to_axes(std::span<const double> z) const;    // y [k]
  std::vector<double> from_axes(std::span<const double> y) const;  // z [r] in the plane or space through the origin
};

// Coordinates `which` (0 .. r-1, each once) of a space whose other coordinates are held at those of `held` [r]; the
// chosen ones keep their own zero. Throws std::invalid_argument.
Axes coordinate_axes(std::span<const std::int64_t> which, std::span<const double> held);

struct PrincipalAxes {
  Axes axes;                      // origin: the mean of all points
  std::vector<double> explained;  // [k]: share of the variance along each, 0 .. 1; 0 where nothing varies
};

// The k directions, 1 <= k <= r, in which all points of the trajectories vary most. Throws std::invalid_argument.
PrincipalAxes principal_axes(std::span<const Trajectory> trajectories, std::int64_t k);

// The field seen in the axes with everything else held at the origin: W^T J W y + W^T v(origin). Where the slice misses
// the fixed point of the whole field, the slice's own is another one: only the part of v within the slice is zero
// there.
AffineField slice(const AffineField& field, const Axes& axes);

// The points in the axes.
Trajectory project(const Trajectory& trajectory, const Axes& axes);

}  // namespace mambarium
