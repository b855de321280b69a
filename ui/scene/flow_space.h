// FlowSpace: from the coordinates z of a picture to the scene's world and back.
//
// The world is the box of the axes about the origin with its longest side from -1 to 1, so that cameras, radii and
// offsets do not depend on a field's units. A plane (dimension 2) lies in world z = 0, or rises with its speed
// (relief). What is drawn on a plane has a layer: those above hide those below, whichever way the plane is seen from
// above.
#pragma once

#include <optional>

#include "ui/scene/flow_picture.h"

namespace mambarium {

enum class FlowLayer { ground, slow, lines, glyphs, trajectories, marks };

class FlowSpace {
 public:
  FlowSpace() = default;                               // the square from -1 to 1
  FlowSpace(const FlowPicture& picture, bool relief);  // relief needs picture.surface, otherwise the plane is flat

  int dimension() const { return dimension_; }
  bool isFlat() const { return dimension_ == 2 && !relief_; }
  const FlowPoint& lower() const { return lower_; }  // the box, in the world; flat: no extent in z
  const FlowPoint& upper() const { return upper_; }
  FlowPoint middle() const;
  double radius() const;  // of the ball about the box

  FlowPoint world(const FlowPoint& z) const;                   // on a plane: where z stands in world z = 0
  FlowPoint place(const FlowPoint& z, FlowLayer layer) const;  // where it is drawn: lifted by relief and layer
  FlowPoint data(const FlowPoint& world) const;                // the inverse of world()
  FlowPoint direction(const FlowPoint& z) const;               // of a vector at any point; not normalised
  double height(const FlowPoint& z) const;                     // of the relief, in the world; 0 without

 private:
  int dimension_ = 2;
  FlowPoint middle_{0, 0, 0}, scale_{1, 1, 1};
  FlowPoint lower_{-1, -1, 0}, upper_{1, 1, 0};
  FlowSpeedRange range_;
  std::optional<FlowSpeedGrid> relief_;
};

// Between the nodes of a grid, bilinear; outside: at the nearest border. NaN where a node of the cell is.
double speedAt(const FlowSpeedGrid& grid, double x, double y);

}  // namespace mambarium
