#include "core/flow/box.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace mambarium {

double Box::diagonal() const {
  double squares = 0;
  for (std::int64_t axis = 0; axis < dimension(); ++axis) squares += extent(axis) * extent(axis);
  return std::sqrt(squares);
}

bool Box::contains(std::span<const double> z) const {
  for (std::int64_t axis = 0; axis < dimension(); ++axis)
    if (!(z[axis] >= lower[axis] && z[axis] <= upper[axis])) return false;
  return true;
}

void check_box(const Box& box, std::int64_t dimension, const char* where) {
  if (std::ssize(box.lower) != dimension || std::ssize(box.upper) != dimension)
    throw std::invalid_argument(std::string(where) + ": the box has " + std::to_string(box.lower.size()) +
                                " lower and " + std::to_string(box.upper.size()) + " upper borders, but " +
                                std::to_string(dimension) + " dimensions are looked at");
  for (std::int64_t axis = 0; axis < dimension; ++axis)
    if (!(box.lower[axis] < box.upper[axis]) || !std::isfinite(box.extent(axis)))
      throw std::invalid_argument(std::string(where) + ": axis " + std::to_string(axis) + " of the box goes from " +
                                  std::to_string(box.lower[axis]) + " to " + std::to_string(box.upper[axis]) +
                                  "; the first must be below the second and both finite");
}

Box box_around(std::span<const double> points, std::int64_t dimension, double margin) {
  if (dimension < 1 || points.empty() || std::ssize(points) % dimension != 0)
    throw std::invalid_argument("box around points: " + std::to_string(points.size()) +
                                " numbers are not one or more points of " + std::to_string(dimension) + " dimensions");
  if (!std::ranges::all_of(points, [](double value) { return std::isfinite(value); }))
    throw std::invalid_argument("box around points: a coordinate is not finite");
  Box box{{points.begin(), points.begin() + dimension}, {points.begin(), points.begin() + dimension}};
  for (std::int64_t index = 0; index < std::ssize(points); ++index) {
    const std::int64_t axis = index % dimension;
    box.lower[axis] = std::min(box.lower[axis], points[index]);
    box.upper[axis] = std::max(box.upper[axis], points[index]);
  }
  double widest = 0;
  for (std::int64_t axis = 0; axis < dimension; ++axis) widest = std::max(widest, box.extent(axis));
  for (std::int64_t axis = 0; axis < dimension; ++axis) {
    const double varies = 1e-12 * std::max(std::abs(box.lower[axis]), std::abs(box.upper[axis]));
    const double side =
        box.extent(axis) > varies ? margin * box.extent(axis) : (widest > varies ? widest / 2 : 0.5 + varies);
    box.lower[axis] -= side;
    box.upper[axis] += side;
  }
  return box;
}

}  // namespace mambarium
