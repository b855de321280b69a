// FlowCamera: from where a flow scene is seen, as a value, in the scene's world coordinates (flow_space.h).
//
// parallel_scale is half the height of what is seen at the focal point, with and without perspective; with perspective
// the eye stands where a 30 degree view sees just that height. So zooming changes one number, and two scenes that share
// a camera show the same.
#pragma once

#include "ui/scene/flow_picture.h"

namespace mambarium {

struct FlowCamera {
  FlowPoint position{0, 0, 1}, focal_point{0, 0, 0}, view_up{0, 1, 0};
  double parallel_scale = 1;
  bool parallel = true;  // false: perspective
  bool operator==(const FlowCamera&) const = default;

  FlowPoint direction() const;  // of sight, of length 1
  FlowPoint right() const;      // of length 1
};

inline constexpr double flow_view_angle = 30;  // degrees, of the height, with perspective

// front: along the second axis, with the third upwards; side: along the first; top: down on the first two. A flat plane
// (`flat`) is faced from the front and from the top, and seen at a slant from the side.
enum class FlowView { front, side, top, isometric };
FlowCamera cameraOf(FlowView view, bool flat, const FlowPoint& focal_point, double parallel_scale, bool parallel);

// The world's third axis stays vertical: `azimuth` degrees about it (positive: the eye goes left, the scene right),
// `elevation` degrees up or down, no further than the poles.
FlowCamera orbited(const FlowCamera& camera, double azimuth, double elevation);
FlowCamera zoomed(const FlowCamera& camera, double factor);  // factor > 1: nearer
// The scene moves right and up by these fractions of the view's height.
FlowCamera panned(const FlowCamera& camera, double right, double up);
FlowCamera turned(const FlowCamera& camera, const FlowPoint& axis, double degrees);  // about the focal point

}  // namespace mambarium
