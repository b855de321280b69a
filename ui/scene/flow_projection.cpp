#include "ui/scene/flow_projection.h"

#include <cmath>
#include <numbers>

#include "ui/scene/flow_vector.h"

namespace mambarium {
namespace {

double slope() {
  return std::tan(flow_view_angle / 2 * std::numbers::pi / 180);
}

}  // namespace

double FlowProjection::depth(const FlowPoint& world) const {
  return dot(world - camera.position, camera.direction());
}

QPointF FlowProjection::display(const FlowPoint& world) const {
  const FlowPoint from_eye = world - camera.position;
  const FlowPoint right = camera.right(), up = cross(right, camera.direction());
  const double half_height = camera.parallel ? camera.parallel_scale : depth(world) * slope();
  const double pixels = size.height() / 2 / half_height;
  return {centre.x() + dot(from_eye, right) * pixels, centre.y() - dot(from_eye, up) * pixels};
}

FlowRay FlowProjection::ray(const QPointF& pixel) const {
  const FlowPoint forward = camera.direction(), right = camera.right(), up = cross(right, forward);
  const double x = (pixel.x() - centre.x()) / (size.height() / 2), y = (centre.y() - pixel.y()) / (size.height() / 2);
  if (camera.parallel) {
    return {camera.position + camera.parallel_scale * (x * right + y * up), forward};
  }
  return {camera.position, normalized(forward + slope() * (x * right + y * up))};
}

}  // namespace mambarium
