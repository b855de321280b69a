#include "core/flow/grid_field.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

namespace mambarium {
namespace {

constexpr std::int64_t largest_dimension = 3;

// The corners of the cell around z and their weights; 0 corners outside the box.
struct Corners {
  std::array<std::int64_t, 1 << largest_dimension> node{};
  std::array<double, 1 << largest_dimension> weight{};
  std::int64_t count = 0;

  Corners(const Grid& grid, std::span<const double> z) {
    if (!grid.box.contains(z)) return;
    node[0] = 0;
    weight[0] = 1;
    count = 1;
    std::int64_t stride = 1;
    for (std::int64_t axis = 0; axis < grid.dimension(); ++axis) {
      const double position = (z[axis] - grid.box.lower[axis]) / grid.spacing(axis);
      const std::int64_t cell = std::clamp<std::int64_t>(static_cast<std::int64_t>(position), 0, grid.nodes[axis] - 2);
      const double share = position - static_cast<double>(cell);
      for (std::int64_t corner = 0; corner < count; ++corner) {
        node[corner] += cell * stride;
        node[count + corner] = node[corner] + stride;
        weight[count + corner] = weight[corner] * share;
        weight[corner] *= 1 - share;
      }
      count *= 2;
      stride *= grid.nodes[axis];
    }
  }
};

}  // namespace

std::int64_t Grid::count() const {
  std::int64_t product = 1;
  for (const std::int64_t number : nodes) product *= number;
  return product;
}

double Grid::coordinate(std::int64_t axis, std::int64_t index) const {
  return index == nodes[axis] - 1 ? box.upper[axis] : box.lower[axis] + spacing(axis) * static_cast<double>(index);
}

void Grid::place(std::int64_t node, std::span<double> z) const {
  for (std::int64_t axis = 0; axis < dimension(); ++axis) {
    z[axis] = coordinate(axis, node % nodes[axis]);
    node /= nodes[axis];
  }
}

Grid make_grid(const Box& box, std::int64_t nodes_per_axis, const char* where) {
  const std::int64_t dimension = box.dimension();
  if (dimension < 2 || dimension > largest_dimension)
    throw std::invalid_argument(std::string(where) + ": a grid has 2 or 3 dimensions, not " +
                                std::to_string(dimension));
  check_box(box, dimension, where);
  constexpr double most = 1 << 24;
  if (nodes_per_axis < 2 || std::pow(static_cast<double>(nodes_per_axis), static_cast<double>(dimension)) > most)
    throw std::invalid_argument(std::string(where) + ": " + std::to_string(nodes_per_axis) +
                                " nodes per axis; there must be 2 or more, and at most 2^24 in the whole grid");
  return {box, std::vector<std::int64_t>(dimension, nodes_per_axis)};
}

bool GridField::operator()(std::span<const double> z, std::span<double> v) const {
  const Corners corners(grid, z);
  if (corners.count == 0) return false;
  const std::int64_t k = dimension();
  for (std::int64_t axis = 0; axis < k; ++axis) {
    double sum = 0;
    for (std::int64_t corner = 0; corner < corners.count; ++corner)
      sum += corners.weight[corner] * velocity[corners.node[corner] * k + axis];
    v[axis] = sum;
  }
  return true;
}

double GridField::support_at(std::span<const double> z) const {
  const Corners corners(grid, z);
  double sum = 0;
  for (std::int64_t corner = 0; corner < corners.count; ++corner)
    sum += corners.weight[corner] * support[corners.node[corner]];
  return sum;
}

}  // namespace mambarium
