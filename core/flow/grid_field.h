// GridField: a vector field known at the nodes of a regular grid in 2 or 3 dimensions, linear between them.
//
// Node (i, j, l) is number i + nodes[0] * (j + nodes[1] * l): the first axis runs fastest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/flow/box.h"

namespace mambarium {

// A regular grid over a box, its outermost nodes on the borders.
struct Grid {
  Box box;
  std::vector<std::int64_t> nodes;  // per axis, 2 or more

  std::int64_t dimension() const { return std::ssize(nodes); }
  std::int64_t count() const;
  double spacing(std::int64_t axis) const { return box.extent(axis) / static_cast<double>(nodes[axis] - 1); }
  double coordinate(std::int64_t axis, std::int64_t index) const;
  // z <- the place of node number `node`.
  void place(std::int64_t node, std::span<double> z) const;
};

// With the same number of nodes along every axis. Throws std::invalid_argument, beginning with `where`, unless the box
// is one of 2 or 3 dimensions, nodes_per_axis is 2 or more and there are at most 2^24 nodes together.
Grid make_grid(const Box& box, std::int64_t nodes_per_axis, const char* where);

struct GridField {
  Grid grid;
  std::vector<double> velocity;  // [nodes, dimension]
  std::vector<double> support;   // [nodes], 0 .. 1: how much data is near, relative to the node with the most

  std::int64_t dimension() const { return grid.dimension(); }
  // v <- the field at z; false, and v unchanged, outside the box.
  bool operator()(std::span<const double> z, std::span<double> v) const;
  double support_at(std::span<const double> z) const;  // 0 outside the box
};

}  // namespace mambarium
