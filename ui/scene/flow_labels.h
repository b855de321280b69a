// FlowLabels: the text and the flat marks of a flow scene, painted over the rendered picture: axes with numbers, the
// colour bar, the fixed point and the picked point. On a screen and in a file the same, on another scale.
#pragma once

#include <QPainter>
#include <array>

#include "ui/plots/theme.h"
#include "ui/scene/flow_projection.h"
#include "ui/scene/flow_space.h"

namespace mambarium {

// Round numbers within [lower, upper], about `most` of them at the most, with their text at equal decimals.
struct FlowTick {
  double value = 0;
  QString text;
};
std::vector<FlowTick> flowTicks(double lower, double upper, int most);
std::vector<FlowTick> speedTicks(const FlowSpeedRange& range);  // decades where it is logarithmic

// The name of an axis as text of one line: "z₁" of "z_1".
QString axisNameText(const std::string& name);

// The mark of a point that was read, about `at`.
void paintPickMark(QPainter& painter, const QPointF& at, const Theme& theme);

// What text a picture has. A small one is all field: below these sizes, in pixels of the design, it goes first without
// the numbers at its axes, then without their names and the colour bar.
struct FlowText {
  static constexpr double lowest_with_numbers = 170, lowest_with_names = 110, narrowest_with_color_bar = 260;
  bool numbers = true, names = true, color_bar = true;  // numbers: only with names
};
FlowText flowText(const Theme& theme, const QSizeF& size, bool axes, bool color_bar);

// The room beside the picture that the text needs, in the picture's pixels.
struct FlowMargins {
  double left = 0, top = 0, right = 0, bottom = 0;
};
FlowMargins flowMargins(const Theme& theme, const FlowSpace& space, const FlowText& text);

struct FlowLabels {
  const FlowPicture& picture;
  const FlowSpace& space;
  const FlowProjection& projection;
  const Theme& theme;

  void paintAxes(QPainter& painter, bool numbers) const;
  void paintColorBar(QPainter& painter) const;
  void paintFixedPoint(QPainter& painter, const QRectF& room) const;  // room: where its label may stand
  void paintPick(QPainter& painter, const FlowPoint& world) const;

 private:
  struct Edge {
    FlowPoint from{}, to{};
    QPointF outwards;  // on the screen, of length 1
  };
  std::optional<Edge> edgeOf(std::size_t axis) const;
  void paintAxis(QPainter& painter, std::size_t axis, const Edge& edge, bool numbers) const;
};

}  // namespace mambarium
