// Arithmetic on FlowPoints as vectors of the world.
#pragma once

#include <cmath>

#include "ui/scene/flow_picture.h"

namespace mambarium {

inline FlowPoint operator+(const FlowPoint& a, const FlowPoint& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline FlowPoint operator-(const FlowPoint& a, const FlowPoint& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline FlowPoint operator*(double factor, const FlowPoint& a) {
  return {factor * a[0], factor * a[1], factor * a[2]};
}
inline double dot(const FlowPoint& a, const FlowPoint& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline FlowPoint cross(const FlowPoint& a, const FlowPoint& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double length(const FlowPoint& a) {
  return std::hypot(a[0], a[1], a[2]);
}
inline FlowPoint normalized(const FlowPoint& a) {
  const double size = length(a);  // zero stays zero
  return size > 0 ? (1 / size) * a : a;
}

}  // namespace mambarium
