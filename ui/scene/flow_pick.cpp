#include "ui/scene/flow_pick.h"

#include <algorithm>
#include <cmath>

#include "ui/scene/flow_vector.h"

namespace mambarium {
namespace {

// Keeps the offer nearest to a pixel: a pixel nearer counts more than any depth, within a pixel the one in front wins.
class NearestSearch {
 public:
  NearestSearch(const FlowProjection& projection, const std::optional<FlowHalfSpace>& clip, const QPointF& pixel,
                double reach)
      : projection_(projection), clip_(clip), pixel_(pixel), reach_(reach) {}

  void offer(const FlowPoint& world, const QPointF& seen, const FlowPick& pick) {
    const double pixels = std::hypot(seen.x() - pixel_.x(), seen.y() - pixel_.y());
    if (pixels > reach_ || (clip_ && dot(clip_->normal, world - clip_->origin) < 0)) return;
    const double depth = projection_.depth(world);
    if (depth <= 0 && !projection_.camera.parallel) return;
    const std::pair rank(std::floor(pixels), depth);
    if (found_ && rank >= rank_) return;
    found_ = true;
    rank_ = rank;
    best_ = pick;
  }

  std::optional<FlowPick> best() const { return found_ ? std::optional(best_) : std::nullopt; }

 private:
  const FlowProjection& projection_;
  const std::optional<FlowHalfSpace>& clip_;
  QPointF pixel_;
  double reach_;
  bool found_ = false;
  std::pair<double, double> rank_{};
  FlowPick best_;
};

std::optional<FlowPick> pickOfCloud(const FlowPicture& picture, const FlowSpace& space,
                                    const FlowProjection& projection, const std::optional<FlowHalfSpace>& clip,
                                    const QPointF& pixel, double reach) {
  NearestSearch search(projection, clip, pixel, reach);
  for (std::size_t index = 0; index < picture.trajectories.size(); ++index) {
    const FlowTrajectory& path = picture.trajectories[index];
    for (std::size_t i = 0; i < path.points.size(); ++i) {
      const FlowPoint world = space.place(path.points[i], FlowLayer::trajectories);
      const std::int64_t token = path.tokens.empty() ? static_cast<std::int64_t>(i) : path.tokens[i];
      search.offer(world, projection.display(world),
                   {path.points[i], FlowPick::Kind::trajectory, static_cast<int>(index), token});
    }
  }
  for (std::size_t index = 0; index < picture.lines.size(); ++index) {
    const std::vector<FlowPoint>& points = picture.lines[index].points;
    FlowPoint before{};
    QPointF seen_before;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const FlowPoint world = space.place(points[i], FlowLayer::lines);
      const QPointF seen = projection.display(world);
      if (i > 0) {
        const QPointF step = seen - seen_before;
        const double squared = QPointF::dotProduct(step, step);
        const double t =
            squared > 0 ? std::clamp(QPointF::dotProduct(pixel - seen_before, step) / squared, 0.0, 1.0) : 0;
        search.offer(
            before + t * (world - before), seen_before + t * step,
            {points[i - 1] + t * (points[i] - points[i - 1]), FlowPick::Kind::line, static_cast<int>(index), {}});
      }
      before = world;
      seen_before = seen;
    }
  }
  return search.best();
}

std::optional<FlowPoint> meeting(const FlowRay& ray, const FlowPoint& origin, const FlowPoint& normal) {
  const double slope = dot(ray.direction, normal);
  if (std::abs(slope) < 1e-9) return std::nullopt;
  return ray.origin + (dot(origin - ray.origin, normal) / slope) * ray.direction;
}

// The first place from the eye where the ray goes through the relief, from above or from below.
std::optional<FlowPoint> meetingRelief(const FlowSpace& space, const FlowRay& ray) {
  const double descent = -ray.direction[2];
  if (descent < 1e-9) return std::nullopt;
  const auto at = [&](double t) { return ray.origin + t * ray.direction; };
  const auto isWithin = [&](const FlowPoint& world) {
    return world[0] >= space.lower()[0] && world[0] <= space.upper()[0] && world[1] >= space.lower()[1] &&
           world[1] <= space.upper()[1];
  };
  const auto isAbove = [&](const FlowPoint& world) { return world[2] > space.height(space.data(world)); };
  constexpr int steps = 400;
  const double first = (ray.origin[2] - space.upper()[2] - 1e-6) / descent, last = (ray.origin[2] + 1e-6) / descent;
  const double step = (last - first) / steps;
  for (int index = 0; index < steps; ++index) {
    double near = first + index * step, far = near + step;
    const bool above = isAbove(at(near));
    if (!isWithin(at(near)) || !isWithin(at(far)) || above == isAbove(at(far))) continue;
    for (int halving = 0; halving < 40; ++halving) {
      const double middle = (near + far) / 2;
      (isAbove(at(middle)) == above ? near : far) = middle;
    }
    return at(far);
  }
  return std::nullopt;
}

}  // namespace

std::optional<FlowPick> pickFlow(const FlowPicture& picture, const FlowSpace& space, const FlowProjection& projection,
                                 const std::optional<FlowHalfSpace>& clip, const QPointF& pixel, double reach) {
  const FlowRay ray = projection.ray(pixel);
  if (space.dimension() == 2) {
    const auto met = space.isFlat() ? meeting(ray, {0, 0, 0}, {0, 0, 1}) : meetingRelief(space, ray);
    if (!met) return std::nullopt;
    return FlowPick{.z = space.data(*met)};
  }
  if (auto pick = pickOfCloud(picture, space, projection, clip, pixel, reach)) return pick;
  const auto met = meeting(ray, projection.camera.focal_point, projection.camera.direction());
  if (!met) return std::nullopt;
  return FlowPick{.z = space.data(*met)};
}

}  // namespace mambarium
