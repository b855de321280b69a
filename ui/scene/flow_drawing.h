// FlowDrawing: the lines, arrows, surfaces and balls of a flow scene, and what of them is to be seen.
//
// Owned by FlowScene, which tells it what changed; setCursor and setClip rebuild nothing. GUI thread only.
#pragma once

#include <array>

#include "ui/plots/theme.h"
#include "ui/scene/flow_camera.h"
#include "ui/scene/flow_mesh.h"
#include "ui/scene/flow_space.h"

namespace mambarium {

// What is drawn, for captions and tests.
struct FlowCounts {
  std::size_t lines = 0, line_points = 0, glyphs = 0, trajectories = 0, trajectory_points = 0, slow_cells = 0;
  std::size_t surface_nodes = 0;
  bool operator==(const FlowCounts&) const = default;
};

class FlowDrawing {
 public:
  explicit FlowDrawing(vtkRenderer& renderer);

  // on_surface: the lines lie on a surface that is coloured by speed already.
  void setColors(const Theme& theme, bool on_surface, const QColor& current_trajectory);
  void setPicture(const FlowPicture& picture, const FlowSpace& space, const std::array<std::vector<double>, 3>& ticks);
  // The point of the current trajectory the ball is on; -1: no ball.
  void setBall(const FlowPicture& picture, const FlowSpace& space, std::ptrdiff_t point);
  const std::optional<FlowPoint>& ball() const { return ball_at_; }  // in the world
  void setClip(const std::optional<FlowHalfSpace>& clip);
  void setAxesVisible(bool visible) { axes_visible_ = visible; }

  // Before each frame: `ratio` framebuffer pixels are a pixel of the design; `thin` streamlines have one of the
  // framebuffer's, which is quickest. Of the box, the faces behind the scene are drawn.
  void prepare(const FlowCamera& camera, const FlowSpace& space, bool tubes, bool thin, double ratio);
  const FlowCounts& counts() const { return counts_; }

 private:
  std::array<std::array<std::unique_ptr<FlowMesh>, 2>, 3> grids_, outlines_;  // [axis][lower, upper]
  FlowMesh surface_, lines_, directions_, glyphs_, paths_, seeded_, current_path_, tail_, ball_, eigenvectors_;
  FlowMesh slow_;  // the last, since it is blended over the others
  std::optional<FlowPoint> ball_at_;
  FlowCounts counts_;
  bool axes_visible_ = true, flat_ = true;
};

// The colours of shades 0 .. 1. Viridis without the end that would vanish on the panel: yellow on white, violet on
// black.
QColor speedColor(const Theme& theme, double shade);

}  // namespace mambarium
