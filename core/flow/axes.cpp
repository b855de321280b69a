#include "core/flow/axes.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/flow/dense_matrix.h"
#include "core/flow/symmetric_eigen.h"

namespace mambarium {

std::vector<double> Axes::to_axes(std::span<const double> z) const {
  std::vector<double> y(k);
  for (std::int64_t i = 0; i < r; ++i)
    for (std::int64_t axis = 0; axis < k; ++axis) y[axis] += directions[i * k + axis] * (z[i] - origin[i]);
  return y;
}

std::vector<double> Axes::from_axes(std::span<const double> y) const {
  std::vector<double> z = origin;
  for (std::int64_t i = 0; i < r; ++i)
    for (std::int64_t axis = 0; axis < k; ++axis) z[i] += directions[i * k + axis] * y[axis];
  return z;
}

Axes coordinate_axes(std::span<const std::int64_t> which, std::span<const double> held) {
  Axes axes{std::ssize(held), std::ssize(which), {held.begin(), held.end()}, {}};
  axes.directions.resize(axes.r * axes.k);
  if (which.empty()) throw std::invalid_argument("axes: no coordinate is chosen; one or more are needed");
  for (std::int64_t axis = 0; axis < axes.k; ++axis) {
    const std::int64_t coordinate = which[axis];
    if (coordinate < 0 || coordinate >= axes.r)
      throw std::invalid_argument("axes: there is no coordinate " + std::to_string(coordinate) +
                                  "; they go from 0 to " + std::to_string(axes.r - 1));
    if (std::ranges::count(which, coordinate) != 1)
      throw std::invalid_argument("axes: coordinate " + std::to_string(coordinate) +
                                  " is chosen twice; each can be drawn along one axis");
    axes.origin[coordinate] = 0;
    axes.directions[coordinate * axes.k + axis] = 1;
  }
  return axes;
}

PrincipalAxes principal_axes(std::span<const Trajectory> trajectories, std::int64_t k) {
  check_trajectories(trajectories, "principal axes");
  const std::int64_t r = trajectories.front().dimension;
  if (k < 1 || k > r)
    throw std::invalid_argument("principal axes: " + std::to_string(k) + " axes are asked for, but there are 1 to " +
                                std::to_string(r));
  std::vector<double> mean(r), covariance(r * r);
  double points = 0;
  for (const Trajectory& trajectory : trajectories)
    for (std::int64_t t = 0; t < trajectory.points(); ++t, ++points)
      for (std::int64_t i = 0; i < r; ++i) mean[i] += trajectory.z[t * r + i];
  if (points == 0)
    throw std::invalid_argument("principal axes: the trajectories hold no points; one or more are needed");
  for (double& value : mean) value /= points;
  for (const Trajectory& trajectory : trajectories)
    for (std::int64_t t = 0; t < trajectory.points(); ++t)
      for (std::int64_t i = 0; i < r; ++i)
        for (std::int64_t j = i; j < r; ++j)
          covariance[i * r + j] += (trajectory.z[t * r + i] - mean[i]) * (trajectory.z[t * r + j] - mean[j]) / points;

  const SymmetricEigen eigen = symmetric_eigen(covariance, r);
  double total = 0;
  for (const double value : eigen.values) total += std::max(value, 0.0);
  PrincipalAxes result{{r, k, std::move(mean), std::vector<double>(r * k)}, std::vector<double>(k)};
  for (std::int64_t axis = 0; axis < k; ++axis) {
    if (total > 0) result.explained[axis] = std::max(eigen.values[axis], 0.0) / total;
    for (std::int64_t i = 0; i < r; ++i) result.axes.directions[i * k + axis] = eigen.vectors[i * r + axis];
  }
  return result;
}

AffineField slice(const AffineField& field, const Axes& axes) {
  check_field(field);
  const std::int64_t r = field.r, k = axes.k;
  if (axes.r != r)
    throw std::invalid_argument("slice: the axes are of " + std::to_string(axes.r) + " dimensions, but the field has " +
                                std::to_string(r));
  std::vector<double> at_origin(r), transposed(k * r);
  field(axes.origin, at_origin);
  for (std::int64_t i = 0; i < r; ++i)
    for (std::int64_t axis = 0; axis < k; ++axis) transposed[axis * r + i] = axes.directions[i * k + axis];
  const std::vector<double> columns = multiply(field.J, r, r, axes.directions, k);
  return {k, multiply(transposed, k, r, columns, k), multiply(transposed, k, r, at_origin, 1), field.kind};
}

Trajectory project(const Trajectory& trajectory, const Axes& axes) {
  if (trajectory.dimension != axes.r)
    throw std::invalid_argument("project: the axes are of " + std::to_string(axes.r) +
                                " dimensions, but the trajectory has " + std::to_string(trajectory.dimension));
  Trajectory result{axes.k, {}};
  result.z.reserve(trajectory.points() * axes.k);
  for (std::int64_t t = 0; t < trajectory.points(); ++t) {
    const std::vector<double> y = axes.to_axes(trajectory.point(t));
    result.z.insert(result.z.end(), y.begin(), y.end());
  }
  return result;
}

}  // namespace mambarium
