// The flow field that trajectories show, with nothing known of what made them: at each node of a grid the mean step
// z_{t+1} - z_t of all tokens, weighted by how near the middle of the step is.
//
//     w_s = exp(-|node - middle_s|^2 / (2 sigma^2)),  sigma = bandwidth * the largest range of the trajectories
//     support = sum_s w_s,   e = exp(-support / (blend * largest support))
//     v = (1 - e) * (sum_s w_s step_s / support) + e * (mean of all steps)
//
// Near the data it is their local mean; far from them it fades into the mean of all steps, and `support` says how much
// of it is data. It is a displacement per token.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/flow/box.h"
#include "core/flow/grid_field.h"
#include "core/flow/trajectory.h"

namespace mambarium {

struct EmpiricalFieldOptions {
  std::int64_t nodes_per_axis = 33;  // 17 still follow the width of the weights, in space at an eighth of the cost
  double bandwidth = 0.24;           // above 0
  double blend = 0.28;               // 0 or more; 0: never the mean of all
  std::optional<Box> box = {};       // empty: the trajectories' own, widened on each side by `margin` of each range
  double margin = 0.05;
};

// Of trajectories in 2 or 3 dimensions (see project() in axes.h for others). O(nodes * steps). Throws
// std::invalid_argument as check_trajectories and make_grid do, and where no trajectory has two points.
GridField empirical_field(std::span<const Trajectory> trajectories, const EmpiricalFieldOptions& options = {});

// What a trajectory does, in four numbers.
struct PathMeasures {
  double length = 0;     // sum of |steps|
  double mean_step = 0;  // length / steps
  double radius = 0;     // mean distance of the points from their mean
  double spread = 0;     // root mean square of that distance
};
PathMeasures path_measures(const Trajectory& trajectory);

}  // namespace mambarium
