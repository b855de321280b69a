#include "ui/scene/flow_camera.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ui/scene/flow_vector.h"

namespace mambarium {
namespace {

constexpr double radians = std::numbers::pi / 180;

FlowPoint rotated(const FlowPoint& a, const FlowPoint& axis, double degrees) {
  const double c = std::cos(degrees * radians), s = std::sin(degrees * radians);
  return c * a + s * cross(axis, a) + (1 - c) * dot(axis, a) * axis;
}

FlowCamera standing(FlowCamera camera, const FlowPoint& direction) {
  const double distance = camera.parallel_scale / std::tan(flow_view_angle / 2 * radians);
  camera.position = camera.focal_point - distance * direction;
  return camera;
}

}  // namespace

FlowPoint FlowCamera::direction() const {
  return normalized(focal_point - position);
}

FlowPoint FlowCamera::right() const {
  return normalized(cross(direction(), view_up));
}

FlowCamera cameraOf(FlowView view, bool flat, const FlowPoint& focal_point, double parallel_scale, bool parallel) {
  FlowPoint from{0, 0, 1}, up{0, 1, 0};
  switch (view) {
    case FlowView::front:
      if (!flat) from = {0, -1, 0}, up = {0, 0, 1};
      break;
    case FlowView::side:
      from = flat ? normalized({1, 0, 0.45}) : FlowPoint{1, 0, 0};
      up = {0, 0, 1};
      break;
    case FlowView::top:
      break;
    case FlowView::isometric:
      from = normalized({-0.62, -1, 0.62});
      up = {0, 0, 1};
      break;
  }
  FlowCamera camera{.focal_point = focal_point, .parallel_scale = parallel_scale, .parallel = parallel};
  camera.view_up = normalized(up - dot(up, from) * from);
  return standing(camera, -1 * from);
}

FlowCamera orbited(const FlowCamera& camera, double azimuth, double elevation) {
  FlowCamera moved = camera;
  FlowPoint direction = camera.direction();
  FlowPoint up = normalized(camera.view_up - dot(camera.view_up, direction) * direction);
  if (elevation != 0) {
    const FlowPoint right = cross(direction, up);
    const double now = std::atan2(-direction[2], up[2]) / radians;  // -90 (from below) .. 90 (from above)
    const double turn = std::clamp(now + elevation, -90.0, 90.0) - now;
    direction = rotated(direction, right, -turn);
    up = rotated(up, right, -turn);
  }
  direction = rotated(direction, {0, 0, 1}, -azimuth);
  moved.view_up = normalized(rotated(up, {0, 0, 1}, -azimuth));
  return standing(moved, normalized(direction));
}

FlowCamera zoomed(const FlowCamera& camera, double factor) {
  FlowCamera moved = camera;
  moved.parallel_scale = std::clamp(camera.parallel_scale / factor, 1e-4, 1e3);
  return standing(moved, camera.direction());
}

FlowCamera panned(const FlowCamera& camera, double right, double up) {
  FlowCamera moved = camera;
  const double height = 2 * camera.parallel_scale;
  const FlowPoint upwards = cross(camera.right(), camera.direction());
  const FlowPoint shift = (-right * height) * camera.right() + (-up * height) * upwards;
  moved.focal_point = camera.focal_point + shift;
  moved.position = camera.position + shift;
  return moved;
}

FlowCamera turned(const FlowCamera& camera, const FlowPoint& axis, double degrees) {
  FlowCamera moved = camera;
  const FlowPoint unit = normalized(axis);
  moved.position = camera.focal_point + rotated(camera.position - camera.focal_point, unit, degrees);
  moved.view_up = rotated(camera.view_up, unit, degrees);
  return moved;
}

}  // namespace mambarium
