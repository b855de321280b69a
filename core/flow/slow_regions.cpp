#include "core/flow/slow_regions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "core/flow/dense_matrix.h"

namespace mambarium {
namespace {

double norm(std::span<const double> v) {
  double squares = 0;
  for (const double value : v) squares += value * value;
  return std::sqrt(squares);
}

std::vector<double> finite_speeds(const SpeedGrid& speeds) {
  std::vector<double> finite;
  std::ranges::copy_if(speeds.speed, std::back_inserter(finite), [](double value) { return std::isfinite(value); });
  return finite;
}

// A node among equals is none: all of a field that is the same everywhere would be.
bool is_lowest_of_neighbours(const SpeedGrid& speeds, std::int64_t node) {
  const Grid& grid = speeds.grid;
  if (!std::isfinite(speeds.speed[node])) return false;
  std::vector<std::int64_t> index;
  for (std::int64_t axis = 0, rest = node; axis < grid.dimension(); rest /= grid.nodes[axis], ++axis)
    index.push_back(rest % grid.nodes[axis]);
  std::int64_t shifts = 1;
  for (std::int64_t axis = 0; axis < grid.dimension(); ++axis) shifts *= 3;
  bool is_lower = false;
  for (std::int64_t shift = 0; shift < shifts; ++shift) {
    std::int64_t neighbour = 0, stride = 1;
    bool inside = true;
    for (std::int64_t axis = 0, rest = shift; axis < grid.dimension(); ++axis, rest /= 3) {
      const std::int64_t at = index[axis] + rest % 3 - 1;
      inside &= at >= 0 && at < grid.nodes[axis];
      neighbour += at * stride;
      stride *= grid.nodes[axis];
    }
    if (!inside) continue;
    if (speeds.speed[neighbour] < speeds.speed[node]) return false;
    is_lower |= speeds.speed[neighbour] > speeds.speed[node];
  }
  return is_lower;
}

// Levenberg's and Marquardt's way down |v|^2 / 2 within the box, in box lengths.
class Descent {
 public:
  Descent(const FieldView& field, const Box& box) : field_(field), box_(box), r_(field.dimension()) {}

  std::optional<SlowPoint> from(std::vector<double> z) const {
    std::vector<double> v(r_), trial(r_), moved(r_);
    if (!field_(z, v)) return std::nullopt;
    double damping = 1e-9;
    constexpr int most_steps = 300;
    for (int step = 0; step < most_steps && damping < 1e12; ++step) {
      const auto slopes = jacobian(z);
      if (!slopes) return std::nullopt;
      std::vector<double> normal(r_ * r_), downhill(r_);
      double largest = 0;
      for (std::int64_t i = 0; i < r_; ++i)
        for (std::int64_t j = 0; j < r_; ++j) {
          downhill[i] -= (*slopes)[j * r_ + i] * v[j];
          for (std::int64_t k = 0; k < r_; ++k) normal[i * r_ + j] += (*slopes)[k * r_ + i] * (*slopes)[k * r_ + j];
          if (i == j) largest = std::max(largest, normal[i * r_ + i]);
        }
      if (largest == 0) break;
      for (std::int64_t i = 0; i < r_; ++i) normal[i * r_ + i] += damping * largest;
      const auto factors = LuFactors::of(std::move(normal), r_);
      if (factors) {
        factors->solve(downhill);
        for (std::int64_t i = 0; i < r_; ++i) trial[i] = z[i] + downhill[i] * box_.extent(i);
      }
      if (factors && box_.contains(trial) && field_(trial, moved) && norm(moved) < norm(v)) {
        std::swap(z, trial);
        std::swap(v, moved);
        damping = std::max(damping / 10, 1e-12);
        if (norm(downhill) < 1e-13) break;
      } else {
        damping *= 10;
      }
    }
    return SlowPoint{std::move(z), norm(v), false};
  }

 private:
  // Columns per box length, by differences that stay inside the box.
  std::optional<std::vector<double>> jacobian(std::span<const double> z) const {
    std::vector<double> slopes(r_ * r_), place(z.begin(), z.end()), before(r_), after(r_);
    for (std::int64_t axis = 0; axis < r_; ++axis) {
      constexpr double reach = 1e-5;
      const double low = std::max(z[axis] - reach * box_.extent(axis), box_.lower[axis]);
      const double high = std::min(z[axis] + reach * box_.extent(axis), box_.upper[axis]);
      place[axis] = low;
      if (!field_(place, before)) return std::nullopt;
      place[axis] = high;
      if (!field_(place, after)) return std::nullopt;
      place[axis] = z[axis];
      for (std::int64_t i = 0; i < r_; ++i)
        slopes[i * r_ + axis] = (after[i] - before[i]) / (high - low) * box_.extent(axis);
    }
    return slopes;
  }

  const FieldView& field_;
  const Box& box_;
  std::int64_t r_;
};

double box_distance(const Box& box, std::span<const double> a, std::span<const double> b) {
  double squares = 0;
  for (std::int64_t axis = 0; axis < box.dimension(); ++axis) {
    const double share = (a[axis] - b[axis]) / box.extent(axis);
    squares += share * share;
  }
  return std::sqrt(squares);
}

double distance_to_border(const Box& box, std::span<const double> z) {
  double nearest = 1;
  for (std::int64_t axis = 0; axis < box.dimension(); ++axis)
    nearest = std::min(
        {nearest, (z[axis] - box.lower[axis]) / box.extent(axis), (box.upper[axis] - z[axis]) / box.extent(axis)});
  return nearest;
}

}  // namespace

SpeedGrid speed_grid(FieldView field, const Box& box, std::int64_t nodes_per_axis) {
  SpeedGrid speeds{make_grid(box, nodes_per_axis, "speed grid"), {}};
  const std::int64_t r = speeds.grid.dimension();
  if (field.dimension() != r)
    throw std::invalid_argument("speed grid: the box has " + std::to_string(r) + " dimensions, but the field has " +
                                std::to_string(field.dimension()));
  std::vector<double> z(r), v(r);
  speeds.speed.reserve(speeds.grid.count());
  for (std::int64_t node = 0; node < speeds.grid.count(); ++node) {
    speeds.grid.place(node, z);
    speeds.speed.push_back(field(z, v) ? norm(v) : std::numeric_limits<double>::quiet_NaN());
  }
  return speeds;
}

SlowRegion slow_region(const SpeedGrid& speeds, double fraction, SpeedScale scale) {
  if (!(fraction >= 0))
    throw std::invalid_argument("slow region: the fraction is " + std::to_string(fraction) +
                                ", but it must be 0 or more");
  SlowRegion region{0, std::vector<bool>(speeds.speed.size()), 0};
  std::vector<double> finite = finite_speeds(speeds);
  if (finite.empty()) return region;
  const auto middle = finite.begin() + std::ssize(finite) / 2;
  std::ranges::nth_element(finite, middle);
  region.threshold = fraction * (scale == SpeedScale::median ? *middle : std::ranges::max(finite));
  std::int64_t count = 0;
  for (std::int64_t node = 0; node < std::ssize(speeds.speed); ++node)
    if ((region.slow[node] = speeds.speed[node] <= region.threshold)) ++count;
  region.share = static_cast<double>(count) / static_cast<double>(finite.size());
  return region;
}

std::vector<SlowPoint> slow_points(FieldView field, const SpeedGrid& speeds) {
  const Box& box = speeds.grid.box;
  const std::vector<double> finite = finite_speeds(speeds);
  const double fastest = finite.empty() ? 0 : std::ranges::max(finite);
  std::vector<SlowPoint> points;
  const Descent descent(field, box);
  std::vector<double> z(speeds.grid.dimension());
  for (std::int64_t node = 0; node < speeds.grid.count(); ++node) {
    if (!is_lowest_of_neighbours(speeds, node)) continue;
    speeds.grid.place(node, z);
    auto point = descent.from(z);
    if (!point) continue;
    constexpr double fixed_share = 1e-6, at_border = 1e-6, same = 1e-4;
    point->fixed = point->speed <= fixed_share * fastest;
    if (!point->fixed && distance_to_border(box, point->z) < at_border) continue;
    const auto known = std::ranges::find_if(
        points, [&](const SlowPoint& other) { return box_distance(box, other.z, point->z) < same; });
    if (known == points.end())
      points.push_back(std::move(*point));
    else if (point->speed < known->speed)
      *known = std::move(*point);
  }
  std::ranges::stable_sort(points, {}, &SlowPoint::speed);
  return points;
}

}  // namespace mambarium
