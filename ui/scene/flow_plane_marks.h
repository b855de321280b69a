// FlowPlaneMarks: what has a size in pixels on the axes of a plane of z: the heads of streamlines, which say where they
// go, and the mark of a point that was read. GUI thread only.
#pragma once

#include <qcustomplot.h>

#include <optional>
#include <vector>

#include "ui/plots/theme.h"

namespace mambarium {

class FlowPlaneMarks : public QCPLayerable {
 public:
  explicit FlowPlaneMarks(QCPAxisRect* rect);  // on its lower and its left axis

  // In the coordinates of the axes: the tip, and a point of the line a little before it.
  struct Head {
    QPointF tip, before;
  };
  void setHeads(std::vector<Head> heads, const Theme& theme);
  void setPick(const QPointF& at, const Theme& theme);
  void clear();
  const std::vector<Head>& heads() const { return heads_; }
  const std::optional<QPointF>& pick() const { return pick_; }

 protected:
  QRect clipRect() const override { return rect_->rect(); }
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(true); }
  void draw(QCPPainter* painter) override;

 private:
  QPointF pixelOf(const QPointF& at) const;

  QCPAxisRect* rect_;
  Theme theme_;
  std::vector<Head> heads_;
  std::optional<QPointF> pick_;
};

}  // namespace mambarium
