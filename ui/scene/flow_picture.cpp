#include "ui/scene/flow_picture.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace mambarium {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw std::invalid_argument("flow picture: " + sentence);
}

bool isFinite(const FlowPoint& point, int dimension) {
  return std::all_of(point.begin(), point.begin() + dimension, [](double value) { return std::isfinite(value); });
}

std::string named(const char* what, std::size_t index) {
  return std::string(what) + " " + std::to_string(index);
}

std::string counted(std::size_t have, const char* of, std::size_t points) {
  return "has " + std::to_string(have) + " " + of + " for " + std::to_string(points) + " points";
}

void validateBox(const FlowPicture& picture) {
  if (picture.dimension != 2 && picture.dimension != 3) {
    refuse("the dimension is " + std::to_string(picture.dimension) + "; it must be 2 or 3");
  }
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(picture.dimension); ++axis) {
    const double lower = picture.lower[axis], upper = picture.upper[axis];
    if (!std::isfinite(lower) || !std::isfinite(upper) || lower >= upper) {
      refuse("axis " + picture.axis_names[axis] + " goes from " + std::to_string(lower) + " to " +
             std::to_string(upper) + "; its lower end must be below its upper end and both finite");
    }
  }
  const FlowSpeedRange& speed = picture.speed;
  if (!std::isfinite(speed.lower) || !std::isfinite(speed.upper) || speed.lower >= speed.upper) {
    refuse("the colour range goes from " + std::to_string(speed.lower) + " to " + std::to_string(speed.upper) +
           "; its lower end must be below its upper end and both finite");
  }
  if (speed.logarithmic && speed.lower <= 0) refuse("a logarithmic colour range must begin above 0");
}

void validateLines(const FlowPicture& picture) {
  const auto finite = [&](const FlowPoint& point) { return isFinite(point, picture.dimension); };
  for (std::size_t index = 0; index < picture.lines.size(); ++index) {
    const FlowLine& line = picture.lines[index];
    if (line.speeds.size() != line.points.size()) {
      refuse(named("line", index) + " " + counted(line.speeds.size(), "speeds", line.points.size()) +
             "; it needs one a point");
    }
    if (!std::all_of(line.points.begin(), line.points.end(), finite)) {
      refuse(named("line", index) + " has a point that is not finite; every coordinate must be a number");
    }
  }
  for (std::size_t index = 0; index < picture.trajectories.size(); ++index) {
    const FlowTrajectory& path = picture.trajectories[index];
    if (!path.tokens.empty() && path.tokens.size() != path.points.size()) {
      refuse(named("trajectory", index) + " " + counted(path.tokens.size(), "tokens", path.points.size()) +
             "; it needs one a point, or none");
    }
    if (std::adjacent_find(path.tokens.begin(), path.tokens.end(), std::greater_equal<>()) != path.tokens.end()) {
      refuse(named("trajectory", index) + " has tokens out of order; they must ascend");
    }
    if (!std::all_of(path.points.begin(), path.points.end(), finite)) {
      refuse(named("trajectory", index) + " has a point that is not finite; every coordinate must be a number");
    }
  }
  if (picture.current_trajectory < -1 ||
      picture.current_trajectory >= static_cast<std::ptrdiff_t>(picture.trajectories.size())) {
    refuse("the current trajectory is " + std::to_string(picture.current_trajectory) + " of " +
           std::to_string(picture.trajectories.size()) + "; it must be one of them, or -1");
  }
}

void validateMarks(const FlowPicture& picture) {
  const auto finite = [&](const FlowPoint& point) { return isFinite(point, picture.dimension); };
  for (std::size_t index = 0; index < picture.glyphs.size(); ++index) {
    if (!finite(picture.glyphs[index].position) || !finite(picture.glyphs[index].vector)) {
      refuse(named("glyph", index) + " is not finite; its position and vector must be numbers");
    }
  }
  if (picture.fixed_point) {
    if (!finite(picture.fixed_point->position)) refuse("the fixed point is not finite; leave it out instead");
    for (const FlowEigenvector& vector : picture.fixed_point->directions) {
      const auto& d = vector.direction;
      if (!finite(d) || std::all_of(d.begin(), d.begin() + picture.dimension, [](double x) { return x == 0; })) {
        refuse("an eigenvector of the fixed point has no direction; it must be finite and not zero");
      }
    }
  }
  if (picture.slow_region) {
    const FlowPoint& cell = picture.slow_region->cell;
    const auto bad = [](double side) { return !std::isfinite(side) || side <= 0; };
    if (std::any_of(cell.begin(), cell.begin() + picture.dimension, bad)) {
      refuse("a cell of the slow region has no size; its sides must be above 0");
    }
    const auto& cells = picture.slow_region->cells;
    if (!std::all_of(cells.begin(), cells.end(), finite)) refuse("a cell of the slow region is not finite");
  }
  if (const auto& surface = picture.surface) {
    if (picture.dimension != 2) refuse("a surface of speed needs dimension 2, not 3");
    if (surface->columns < 2 || surface->rows < 2) refuse("the surface of speed needs 2 columns and 2 rows at least");
    if (surface->speeds.size() !=
        static_cast<std::size_t>(surface->columns) * static_cast<std::size_t>(surface->rows)) {
      refuse("the surface of speed has " + std::to_string(surface->speeds.size()) + " speeds; it needs " +
             std::to_string(surface->rows) + " x " + std::to_string(surface->columns));
    }
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (!std::isfinite(surface->lower[axis]) || !std::isfinite(surface->upper[axis]) ||
          surface->lower[axis] >= surface->upper[axis]) {
        refuse("the surface of speed has no extent; its lower corner must be below its upper one");
      }
    }
  }
}

}  // namespace

void validate(const FlowPicture& picture) {
  validateBox(picture);
  validateLines(picture);
  validateMarks(picture);
}

double shadeOf(double speed, const FlowSpeedRange& range) {
  if (std::isnan(speed)) return speed;
  if (!range.logarithmic) return std::clamp((speed - range.lower) / (range.upper - range.lower), 0.0, 1.0);
  if (speed <= range.lower) return 0;
  return std::min(std::log(speed / range.lower) / std::log(range.upper / range.lower), 1.0);
}

}  // namespace mambarium
