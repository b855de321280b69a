#include "ui/scene/flow_drawing.h"

#include "ui/scene/flow_geometry.h"
#include "ui/scene/flow_vector.h"

namespace mambarium {
namespace {

constexpr double streamline_radius = 0.0042, path_radius = 0.0055, seeded_radius = 0.008, ball_radius = 0.026;
constexpr double streamline_width = 1.4, path_width = 1.2, axis_width = 1, eigenvector_width = 2;
constexpr int tail_points = 16;
constexpr int scale_colors = 256;

}  // namespace

QColor speedColor(const Theme& theme, double shade) {
  if (theme.isDark()) return theme.sequential(0.16 + 0.84 * shade);
  return theme.sequential(0.93 * shade);
}

FlowDrawing::FlowDrawing(vtkRenderer& renderer)
    : surface_(renderer),
      lines_(renderer),
      directions_(renderer),
      glyphs_(renderer),
      paths_(renderer),
      seeded_(renderer),
      current_path_(renderer),
      tail_(renderer),
      ball_(renderer, {.lit = true}),
      eigenvectors_(renderer),
      slow_(renderer, {.opacity = 0.16}) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t side = 0; side < 2; ++side) {
      grids_[axis][side] = std::make_unique<FlowMesh>(renderer);
      outlines_[axis][side] = std::make_unique<FlowMesh>(renderer);
    }
  }
  ball_.setFaces(ballGeometry(ball_radius));
  ball_.setVisible(false);
}

void FlowDrawing::setColors(const Theme& theme, bool on_surface, const QColor& current_trajectory) {
  std::vector<QColor> scale;
  for (int index = 0; index < scale_colors; ++index) scale.push_back(speedColor(theme, index / (scale_colors - 1.0)));
  const QColor plain_color = Qt::white;
  const std::vector<QColor> plain(scale.size(), plain_color);
  surface_.setScale(scale, theme.missing());
  for (FlowMesh* const mesh : {&lines_, &directions_, &glyphs_}) {
    mesh->setScale(on_surface ? plain : scale, on_surface ? plain_color : theme.missing());
  }
  for (FlowMesh* const mesh : {&current_path_, &tail_, &ball_}) mesh->setColor(current_trajectory);
  slow_.setColor(theme.neutral());
  paths_.setColor(theme.underlay());
  seeded_.setColor(theme.accent());
  eigenvectors_.setColor(theme.text());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t side = 0; side < 2; ++side) {
      grids_[axis][side]->setColor(theme.grid());
      outlines_[axis][side]->setColor(Theme::mixed(theme.line(), theme.neutral(), 0.25));
    }
  }
}

void FlowDrawing::setPicture(const FlowPicture& picture, const FlowSpace& space,
                             const std::array<std::vector<double>, 3>& ticks) {
  flat_ = space.isFlat();
  surface_.setFaces(surfaceGeometry(picture, space));
  surface_.setLit(!flat_);
  slow_.setFaces(slowGeometry(picture, space));
  FlowGeometry lines = streamlineGeometry(picture, space);
  directions_.setFaces(directionGeometry(picture, space));
  directions_.setLit(!flat_);
  glyphs_.setFaces(glyphGeometry(picture, space));
  glyphs_.setLit(!flat_);
  FlowGeometry others, current, seeded;
  counts_ = {.lines = lines.cells(), .line_points = lines.points.size(), .glyphs = picture.glyphs.size()};
  lines_.setLines(std::move(lines));
  for (std::size_t index = 0; index < picture.trajectories.size(); ++index) {
    const FlowTrajectory& path = picture.trajectories[index];
    const bool is_current = static_cast<int>(index) == picture.current_trajectory;
    FlowGeometry& geometry = is_current ? current : path.seeded ? seeded : others;
    const FlowGeometry line = trajectoryGeometry(path, space);
    geometry.addLine(line.points);
    counts_.trajectories += line.cells();
    counts_.trajectory_points += path.points.size();
  }
  paths_.setLines(std::move(others));
  seeded_.setLines(std::move(seeded));
  current_path_.setLines(std::move(current));
  if (picture.slow_region) counts_.slow_cells = picture.slow_region->cells.size();
  if (picture.surface) counts_.surface_nodes = picture.surface->speeds.size();
  eigenvectors_.setLines(picture.fixed_point ? eigenvectorGeometry(*picture.fixed_point, space) : FlowGeometry());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool drawn = picture.dimension == 3 || !flat_ || axis == 2;
    for (std::size_t side = 0; side < 2; ++side) {
      const int which = static_cast<int>(side);
      grids_[axis][side]->setLines(drawn ? faceGrid(space, axis, which, ticks) : FlowGeometry());
      outlines_[axis][side]->setLines(drawn ? faceOutline(space, axis, which) : FlowGeometry());
    }
  }
}

void FlowDrawing::setBall(const FlowPicture& picture, const FlowSpace& space, std::ptrdiff_t point) {
  ball_at_.reset();
  ball_.setVisible(point >= 0);
  tail_.setVisible(point >= 0);
  if (point < 0) return;
  const FlowTrajectory& path = picture.trajectories[static_cast<std::size_t>(picture.current_trajectory)];
  ball_at_ = space.place(path.points[static_cast<std::size_t>(point)], FlowLayer::marks);
  ball_.moveTo(*ball_at_);
  FlowTail tail = tailGeometry(path, space, point, tail_points, 0.6 * ball_radius);
  tail_.setLines(std::move(tail.geometry));
  tail_.setTubes(tail.radii);
}

void FlowDrawing::setClip(const std::optional<FlowHalfSpace>& clip) {
  for (FlowMesh* const mesh :
       {&surface_, &slow_, &lines_, &directions_, &glyphs_, &paths_, &seeded_, &current_path_, &tail_}) {
    mesh->setClip(clip);
  }
}

void FlowDrawing::prepare(const FlowCamera& camera, const FlowSpace& space, bool tubes, bool thin, double ratio) {
  lines_.setTubes(tubes ? streamline_radius : 0, !flat_);
  current_path_.setTubes(path_radius, !flat_);
  seeded_.setTubes(seeded_radius, !flat_);
  lines_.setLineWidth(thin ? 1 : streamline_width * ratio);
  paths_.setLineWidth(path_width * ratio);
  eigenvectors_.setLineWidth(eigenvector_width * ratio);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t side = 0; side < 2; ++side) {
      FlowPoint outwards{}, face = space.middle();
      outwards[axis] = side == 0 ? -1 : 1;
      face[axis] = side == 0 ? space.lower()[axis] : space.upper()[axis];
      const FlowPoint sight = camera.parallel ? camera.direction() : face - camera.position;
      const bool behind = dot(outwards, sight) > 0 || (flat_ && side == 0);
      for (FlowMesh* const mesh : {grids_[axis][side].get(), outlines_[axis][side].get()}) {
        mesh->setVisible(axes_visible_ && behind);
        mesh->setLineWidth(axis_width * ratio);
      }
    }
  }
}

}  // namespace mambarium
