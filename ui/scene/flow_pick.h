// What of a flow scene is under a place on the screen.
#pragma once

#include "ui/scene/flow_mesh.h"
#include "ui/scene/flow_projection.h"
#include "ui/scene/flow_space.h"

namespace mambarium {

struct FlowPick {
  enum class Kind { plane, line, trajectory };
  FlowPoint z{};
  Kind kind = Kind::plane;
  int index = -1;                       // of the line or the trajectory
  std::optional<std::int64_t> token{};  // of the trajectory's point
  bool operator==(const FlowPick&) const = default;
};

// Dimension 2: where the ray meets the plane, or its relief. Dimension 3: the nearest place on a streamline, or the
// nearest point of a trajectory, within `reach` pixels (of equally near ones the one in front); otherwise where the ray
// meets the plane through the focal point. What the clip hides is not picked. Nothing: the ray misses all that.
std::optional<FlowPick> pickFlow(const FlowPicture& picture, const FlowSpace& space, const FlowProjection& projection,
                                 const std::optional<FlowHalfSpace>& clip, const QPointF& pixel, double reach);

}  // namespace mambarium
