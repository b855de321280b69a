// Where a flow field is slow: its speed on a grid, the part of it below a threshold, and the local minima of |v|^2 / 2
// (an affine field with a regular J has exactly one, its fixed point).
#pragma once

#include <cstdint>
#include <vector>

#include "core/flow/field_view.h"
#include "core/flow/grid_field.h"

namespace mambarium {

struct SpeedGrid {
  Grid grid;
  std::vector<double> speed;  // [nodes]; NaN where the field has no value
};

// Throws std::invalid_argument as make_grid does, or where the field has another dimension than the box.
SpeedGrid speed_grid(FieldView field, const Box& box, std::int64_t nodes_per_axis = 33);

enum class SpeedScale { median, largest };

struct SlowRegion {
  double threshold = 0;
  std::vector<bool> slow;  // [nodes]: speed <= threshold
  double share = 0;        // of the nodes with a speed
};

// Slower than `fraction` (0 or more, else std::invalid_argument) of the median or the largest speed of the grid.
SlowRegion slow_region(const SpeedGrid& speeds, double fraction, SpeedScale scale = SpeedScale::median);

struct SlowPoint {
  std::vector<double> z;
  double speed = 0;
  bool fixed = false;  // the speed is below 1e-6 of the grid's largest: a fixed point
};

// The local minima of |v|^2 / 2 inside the box, the slowest first: every node slower than its neighbours, moved
// downhill by damped Gauss-Newton steps, the same places counted once. A field that only gets slower towards a border
// has none there. What is narrower than a cell may be missed.
std::vector<SlowPoint> slow_points(FieldView field, const SpeedGrid& speeds);

}  // namespace mambarium
