// Flow pictures with places that are known, for the tests of the scene.
#pragma once

#include <cmath>

#include "ui/scene/flow_picture.h"

namespace mambarium::fake {

// A straight line of evenly spaced points, all of one speed.
inline FlowLine straightLine(const FlowPoint& from, const FlowPoint& to, double speed, int points = 21) {
  FlowLine line;
  for (int i = 0; i < points; ++i) {
    const double t = i / (points - 1.0);
    line.points.push_back(
        {from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1]), from[2] + t * (to[2] - from[2])});
    line.speeds.push_back(speed);
  }
  return line;
}

// Boxes that are not about the origin and not cubes, so that no mapping is the identity.
inline FlowPicture emptyPicture(int dimension) {
  FlowPicture picture;
  picture.dimension = dimension;
  picture.lower = {-1, 2, 10};
  picture.upper = {3, 5, 13};
  picture.speed = {0, 2, false};
  return picture;
}

// Two lines, one in the lower and one in the upper half of the first axis.
inline FlowPicture twoLines(int dimension) {
  FlowPicture picture = emptyPicture(dimension);
  picture.lines = {straightLine({-0.5, 2.5, 10.5}, {0.5, 4.5, 12.5}, 0.5),
                   straightLine({1.5, 2.5, 10.5}, {2.5, 4.5, 12.5}, 1.5)};
  return picture;
}

// A spiral of 40 points whose tokens are 5, 7, 9 ...
inline FlowTrajectory spiral() {
  FlowTrajectory path;
  for (int i = 0; i < 40; ++i) {
    const double angle = 0.3 * i, radius = 1.2 * std::exp(-0.03 * i);
    path.points.push_back({1 + radius * std::cos(angle), 3.5 + radius * std::sin(angle), 10.4 + 0.05 * i});
    path.tokens.push_back(5 + 2 * i);
  }
  return path;
}

inline FlowPicture withSpiral(FlowPicture picture) {
  picture.trajectories = {spiral()};
  picture.current_trajectory = 0;
  return picture;
}

// |z - (1, 3.5)| on 41 x 31 nodes over the box.
inline FlowSpeedGrid bowl() {
  FlowSpeedGrid grid{.columns = 41, .rows = 31, .lower = {-1, 2}, .upper = {3, 5}, .speeds = {}};
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      grid.speeds.push_back(std::hypot(-1 + 0.1 * column - 1, 2 + 0.1 * row - 3.5));
    }
  }
  return grid;
}

}  // namespace mambarium::fake
