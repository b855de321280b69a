// Flow fields as files that ParaView opens: lines as .vtp, a field on a regular grid as .vti. Coordinates are those of
// z, values are in full precision (float64, appended binary). In dimension 2 everything lies in the plane z3 = 0.
//
// Files are written whole or not at all; each function returns one sentence when the path cannot be written.
#pragma once

#include <QString>
#include <functional>

#include "ui/scene/flow_picture.h"

namespace mambarium {

// Streamlines, trajectories and the fixed point. Point arrays: "speed" (NaN where there is none) and "token" (-1 where
// there is none). Cell arrays: "kind" (0 fixed point, 1 streamline, 2 trajectory) and "index" (within its kind). Lines
// of fewer than two points are left out. Throws what validate() throws.
std::optional<QString> writeFlowLines(const FlowPicture& picture, const QString& path);

// v(z) at counts[0] x counts[1] (x counts[2]) nodes from lower to upper, the first axis fastest; counts of the axes
// there are: at least 2.
struct FlowGrid {
  int dimension = 2;
  std::array<int, 3> counts{33, 33, 33};
  FlowPoint lower{}, upper{};
  std::vector<FlowPoint> vectors;  // one a node
};

// Throws std::invalid_argument for a grid without extent or nodes.
FlowGrid sampledFlow(int dimension, const std::array<int, 3>& counts, const FlowPoint& lower, const FlowPoint& upper,
                     const std::function<FlowPoint(const FlowPoint&)>& field);

// Point arrays: "v" (3 components) and "speed". Throws std::invalid_argument for a grid whose vectors do not fit it.
std::optional<QString> writeFlowGrid(const FlowGrid& grid, const QString& path);

}  // namespace mambarium
