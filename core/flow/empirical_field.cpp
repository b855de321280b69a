#include "core/flow/empirical_field.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace mambarium {
namespace {

struct Steps {
  std::int64_t dimension = 0, count = 0;
  std::vector<double> middles, deltas;  // [count, dimension]
  std::vector<double> mean;             // [dimension]
  double largest_range = 0;
};

Steps steps_of(std::span<const Trajectory> trajectories) {
  Steps steps;
  const std::int64_t k = steps.dimension = trajectories.front().dimension;
  steps.mean.resize(k);
  std::vector<double> lower, upper;
  for (const Trajectory& trajectory : trajectories)
    for (std::int64_t t = 0; t < trajectory.points(); ++t) {
      const std::span<const double> from = trajectory.point(t);
      if (lower.empty()) {
        lower.assign(from.begin(), from.end());
        upper = lower;
      }
      for (std::int64_t axis = 0; axis < k; ++axis) {
        lower[axis] = std::min(lower[axis], from[axis]);
        upper[axis] = std::max(upper[axis], from[axis]);
      }
      if (t + 1 == trajectory.points()) break;
      const std::span<const double> to = trajectory.point(t + 1);
      for (std::int64_t axis = 0; axis < k; ++axis) {
        steps.middles.push_back(0.5 * (from[axis] + to[axis]));
        steps.deltas.push_back(to[axis] - from[axis]);
        steps.mean[axis] += to[axis] - from[axis];
      }
      ++steps.count;
    }
  if (steps.count == 0)
    throw std::invalid_argument("empirical field: no trajectory has two points, so there is no step to learn from");
  for (double& value : steps.mean) value /= static_cast<double>(steps.count);
  for (std::int64_t axis = 0; axis < k; ++axis)
    steps.largest_range = std::max(steps.largest_range, upper[axis] - lower[axis]);
  return steps;
}

struct NodeSums {
  std::vector<double> support;             // [nodes]
  std::vector<std::vector<double>> moved;  // [dimension][nodes]
};

// A Gaussian of a sum of squares is a product over the axes, so exp is taken nodes + nodes times a step and not nodes *
// nodes times. The sums of one row of nodes stay near while all steps pass.
NodeSums node_sums(const Grid& grid, const Steps& steps, double sigma) {
  const std::int64_t k = grid.dimension();
  std::vector<std::vector<double>> weights;  // per axis [steps, nodes]
  for (std::int64_t axis = 0; axis < k; ++axis) {
    std::vector<double>& along = weights.emplace_back();
    along.reserve(steps.count * grid.nodes[axis]);
    for (std::int64_t step = 0; step < steps.count; ++step)
      for (std::int64_t index = 0; index < grid.nodes[axis]; ++index) {
        const double distance = (grid.coordinate(axis, index) - steps.middles[step * k + axis]) / sigma;
        along.push_back(std::exp(-0.5 * distance * distance));
      }
  }
  const std::int64_t row = grid.nodes[0], rows = grid.count() / row;
  NodeSums sums{std::vector<double>(grid.count()), {}};
  sums.moved.assign(k, sums.support);
  for (std::int64_t other = 0; other < rows; ++other)
    for (std::int64_t step = 0; step < steps.count; ++step) {
      double outer = weights[1][step * grid.nodes[1] + other % grid.nodes[1]];
      if (k == 3) outer *= weights[2][step * grid.nodes[2] + other / grid.nodes[1]];
      const double* const along = weights[0].data() + step * row;
      double* const support = sums.support.data() + other * row;
      for (std::int64_t index = 0; index < row; ++index) support[index] += outer * along[index];
      for (std::int64_t axis = 0; axis < k; ++axis) {
        const double weighted = outer * steps.deltas[step * k + axis];
        double* const moved = sums.moved[axis].data() + other * row;
        for (std::int64_t index = 0; index < row; ++index) moved[index] += weighted * along[index];
      }
    }
  return sums;
}

}  // namespace

GridField empirical_field(std::span<const Trajectory> trajectories, const EmpiricalFieldOptions& options) {
  check_trajectories(trajectories, "empirical field");
  if (!(options.bandwidth > 0) || !(options.blend >= 0) || !(options.margin >= 0))
    throw std::invalid_argument("empirical field: the bandwidth is " + std::to_string(options.bandwidth) +
                                ", the blend " + std::to_string(options.blend) + " and the margin " +
                                std::to_string(options.margin) + "; the first must be above 0, the others 0 or more");
  const Steps steps = steps_of(trajectories);
  const std::int64_t k = steps.dimension;
  Box box;
  if (options.box) {
    box = *options.box;
  } else {
    std::vector<double> points;
    for (const Trajectory& trajectory : trajectories)
      points.insert(points.end(), trajectory.z.begin(), trajectory.z.end());
    box = box_around(points, k, options.margin);
  }
  check_box(box, k, "empirical field");
  GridField field{make_grid(box, options.nodes_per_axis, "empirical field"), {}, {}};

  // Where nothing moves there is no range to measure a width by.
  const double sigma = options.bandwidth * (steps.largest_range > 0 ? steps.largest_range : box.diagonal());
  NodeSums sums = node_sums(field.grid, steps, sigma);
  const double most = std::ranges::max(sums.support);
  field.support = std::move(sums.support);
  field.velocity.resize(field.grid.count() * k);
  for (std::int64_t node = 0; node < field.grid.count(); ++node) {
    double& support = field.support[node];
    const double relative = most > 0 ? support / most : 0;
    const double blended = relative == 0 ? 1 : options.blend > 0 ? std::exp(-relative / options.blend) : 0;
    for (std::int64_t axis = 0; axis < k; ++axis) {
      const double local = support > 0 ? sums.moved[axis][node] / support : 0;
      field.velocity[node * k + axis] = (1 - blended) * local + blended * steps.mean[axis];
    }
    support = relative;
  }
  return field;
}

PathMeasures path_measures(const Trajectory& trajectory) {
  check_trajectories(std::span(&trajectory, 1), "path measures");
  const std::int64_t points = trajectory.points(), k = trajectory.dimension;
  PathMeasures measures;
  if (points == 0) return measures;
  std::vector<double> mean(k);
  for (std::int64_t t = 0; t < points; ++t)
    for (std::int64_t axis = 0; axis < k; ++axis)
      mean[axis] += trajectory.z[t * k + axis] / static_cast<double>(points);
  const auto distance = [k](std::span<const double> a, std::span<const double> b) {
    double squares = 0;
    for (std::int64_t axis = 0; axis < k; ++axis) squares += (a[axis] - b[axis]) * (a[axis] - b[axis]);
    return std::sqrt(squares);
  };
  double squares = 0;
  for (std::int64_t t = 0; t < points; ++t) {
    const double from_mean = distance(trajectory.point(t), mean);
    measures.radius += from_mean / static_cast<double>(points);
    squares += from_mean * from_mean / static_cast<double>(points);
    if (t > 0) measures.length += distance(trajectory.point(t - 1), trajectory.point(t));
  }
  if (points > 1) measures.mean_step = measures.length / static_cast<double>(points - 1);
  measures.spread = std::sqrt(squares);
  return measures;
}

}  // namespace mambarium
