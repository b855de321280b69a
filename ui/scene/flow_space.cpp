#include "ui/scene/flow_space.h"

#include <algorithm>
#include <cmath>

#include "ui/scene/flow_vector.h"

namespace mambarium {
namespace {

constexpr double relief_height = 0.7;
constexpr double layer_step = 0.003;

}  // namespace

FlowSpace::FlowSpace(const FlowPicture& picture, bool relief) : dimension_(picture.dimension), range_(picture.speed) {
  double longest = 0;
  const auto axes = static_cast<std::size_t>(dimension_);
  for (std::size_t axis = 0; axis < axes; ++axis)
    longest = std::max(longest, picture.upper[axis] - picture.lower[axis]);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const double extent = picture.upper[axis] - picture.lower[axis];
    middle_[axis] = picture.lower[axis] + extent / 2;
    scale_[axis] = 2 / (picture.equal_units ? longest : extent);
    lower_[axis] = -extent / 2 * scale_[axis];
    upper_[axis] = extent / 2 * scale_[axis];
  }
  if (dimension_ == 2 && relief && picture.surface) {
    relief_ = picture.surface;
    upper_[2] = relief_height;
  }
}

FlowPoint FlowSpace::middle() const {
  return 0.5 * (lower_ + upper_);
}

double FlowSpace::radius() const {
  return length(upper_ - lower_) / 2;
}

FlowPoint FlowSpace::world(const FlowPoint& z) const {
  FlowPoint at{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimension_); ++axis) {
    at[axis] = (z[axis] - middle_[axis]) * scale_[axis];
  }
  return at;
}

FlowPoint FlowSpace::data(const FlowPoint& world) const {
  FlowPoint z{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimension_); ++axis) {
    z[axis] = middle_[axis] + world[axis] / scale_[axis];
  }
  return z;
}

FlowPoint FlowSpace::place(const FlowPoint& z, FlowLayer layer) const {
  FlowPoint at = world(z);
  if (dimension_ == 2) at[2] = height(z) + layer_step * static_cast<double>(layer);
  return at;
}

FlowPoint FlowSpace::direction(const FlowPoint& z) const {
  FlowPoint at{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimension_); ++axis) at[axis] = z[axis] * scale_[axis];
  return at;
}

double FlowSpace::height(const FlowPoint& z) const {
  if (!relief_) return 0;
  const double shade = shadeOf(speedAt(*relief_, z[0], z[1]), range_);
  return std::isnan(shade) ? 0 : relief_height * shade;
}

double speedAt(const FlowSpeedGrid& grid, double x, double y) {
  const auto along = [](double value, double lower, double upper, int count) {
    return std::clamp((value - lower) / (upper - lower), 0.0, 1.0) * (count - 1);
  };
  const double column = along(x, grid.lower[0], grid.upper[0], grid.columns);
  const double row = along(y, grid.lower[1], grid.upper[1], grid.rows);
  const int left = std::min(static_cast<int>(column), grid.columns - 2);
  const int below = std::min(static_cast<int>(row), grid.rows - 2);
  const double s = column - left, t = row - below;
  const auto node = [&](int i, int j) { return grid.speeds[static_cast<std::size_t>(j * grid.columns + i)]; };
  return (1 - t) * ((1 - s) * node(left, below) + s * node(left + 1, below)) +
         t * ((1 - s) * node(left, below + 1) + s * node(left + 1, below + 1));
}

}  // namespace mambarium
