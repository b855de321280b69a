// From a picture to what is drawn of it: lines and faces in the world. Pure functions; no VTK, no Qt.
//
// Shades are places on the colour scale of picture.speed. `space` is that of the same picture.
#pragma once

#include "ui/scene/flow_mesh.h"
#include "ui/scene/flow_space.h"

namespace mambarium {

FlowGeometry streamlineGeometry(const FlowPicture& picture, const FlowSpace& space);
// A cone halfway along each line that is long enough, to say which way it goes.
FlowGeometry directionGeometry(const FlowPicture& picture, const FlowSpace& space);
// Arrows from their positions along their vectors, longer and further up the scale with |vector|.
FlowGeometry glyphGeometry(const FlowPicture& picture, const FlowSpace& space);
FlowGeometry surfaceGeometry(const FlowPicture& picture, const FlowSpace& space);
// In dimension 2 a patch, in 3 the outer faces of the cells.
FlowGeometry slowGeometry(const FlowPicture& picture, const FlowSpace& space);
FlowGeometry eigenvectorGeometry(const FlowFixedPoint& fixed_point, const FlowSpace& space);
FlowGeometry trajectoryGeometry(const FlowTrajectory& path, const FlowSpace& space);

// Which point of the path is token `token`'s; -1: none.
std::ptrdiff_t pointOfToken(const FlowTrajectory& path, std::int64_t token);
// The last `count` points up to `last`, with a radius each that grows to `radius` at `last`.
struct FlowTail {
  FlowGeometry geometry;
  std::vector<float> radii;
};
FlowTail tailGeometry(const FlowTrajectory& path, const FlowSpace& space, std::ptrdiff_t last, int count,
                      double radius);

// The face `side` (0: lower, 1: upper) across `axis` of the box: its outline, and the lines at the ticks of the other
// axes, ticks in the world.
FlowGeometry faceOutline(const FlowSpace& space, std::size_t axis, int side);
FlowGeometry faceGrid(const FlowSpace& space, std::size_t axis, int side,
                      const std::array<std::vector<double>, 3>& ticks);

}  // namespace mambarium
