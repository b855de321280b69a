// FlowProjection: where a point of the world is seen, and the ray of a place on the screen. The same numbers as VTK's
// camera has, for text, marks and picking.
#pragma once

#include <QPointF>
#include <QSizeF>

#include "ui/scene/flow_camera.h"

namespace mambarium {

struct FlowRay {
  FlowPoint origin{}, direction{};  // direction: of length 1
};

struct FlowProjection {
  FlowCamera camera;
  QSizeF size;     // of the picture, in its pixels, origin at the top left
  QPointF centre;  // where the focal point is seen

  QPointF display(const FlowPoint& world) const;
  double depth(const FlowPoint& world) const;  // along the direction of sight, from the eye
  FlowRay ray(const QPointF& pixel) const;
};

}  // namespace mambarium
