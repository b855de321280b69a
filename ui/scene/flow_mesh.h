// FlowMesh: one thing a flow scene draws, lines or faces, kept and refilled in place. All of VTK's pipeline is in here.
//
// Points are in the world (flow_space.h). Shades are places on the colour scale, one a point (NaN: missing), or none:
// then the mesh has one colour. GUI thread only; nothing is drawn until the renderer's window renders.
#pragma once

#include <QColor>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ui/scene/flow_picture.h"

class vtkRenderer;

namespace mambarium {

// Cells by their points: cell c joins indices[offsets[c] .. offsets[c + 1]).
struct FlowGeometry {
  std::vector<FlowPoint> points;
  std::vector<float> shades;       // one a point, or empty
  std::vector<FlowPoint> normals;  // one a point, of length 1, or empty: faces are then shaded flat
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> indices;

  bool operator==(const FlowGeometry&) const = default;
  std::size_t cells() const { return offsets.size() - 1; }
  void addPoint(const FlowPoint& point) { points.push_back(point); }
  void addCell(std::initializer_list<std::int64_t> corners);
  // A line through these points, leaving out repetitions (closer than 1e-6); `shades` as long as `line`, or empty.
  // Fewer than two different points: nothing is added.
  void addLine(std::span<const FlowPoint> line, std::span<const float> line_shades = {});
};

// A half space that stays visible: where dot(normal, point - origin) >= 0.
struct FlowHalfSpace {
  FlowPoint origin{}, normal{0, 0, 1};
  bool operator==(const FlowHalfSpace&) const = default;
};

// How a mesh looks; what tells it from the scene's other meshes.
struct FlowLook {
  bool lit = false;    // shaded like a solid; otherwise its plain colour
  double opacity = 1;  // below 1: blended over the meshes made before it, and not sorted among themselves
};

class FlowMesh {
 public:
  FlowMesh(vtkRenderer& renderer, const FlowLook& look = {});
  ~FlowMesh();

  // What is drawn already costs a comparison and reaches neither VTK nor the graphics again.
  void setLines(FlowGeometry geometry);
  void setFaces(FlowGeometry geometry);
  void setColor(const QColor& color);
  void setScale(const std::vector<QColor>& colors, const QColor& missing);  // of shades 0 .. 1
  void setLit(bool lit);                                                    // faces, and lines that are not tubes
  void setLineWidth(double pixels);                                         // of the framebuffer
  // Lines as tubes of this radius, shaded like solids where `lit`; 0: as lines. With radii (one a point of the
  // geometry, given anew after each setLines) each point has its own, and the mesh has one colour.
  void setTubes(double radius, bool lit = true);
  void setTubes(std::span<const float> radii);
  void setClip(const std::optional<FlowHalfSpace>& clip);
  void setVisible(bool visible);
  bool isVisible() const;
  void moveTo(const FlowPoint& position);  // shifts all of it, without touching its points

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// A ball of this radius about the origin.
FlowGeometry ballGeometry(double radius);

}  // namespace mambarium
