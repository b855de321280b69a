// FlowPlaneLabel: the label of a fixed point on the axes of a plot, where it stays with the point at any size.
#pragma once

#include <qcustomplot.h>

#include "ui/plots/theme.h"

namespace mambarium {

class FlowPlaneLabel : public QCPLayerable {
 public:
  explicit FlowPlaneLabel(QCPAxisRect* rect);  // on its lower and its left axis

  // Nothing is drawn before; `at` in the coordinates of the axes, `radius` of the mark there in pixels.
  void setLabel(const QPointF& at, double radius, const QString& type, const QString& eigenvalues, const Theme& theme);
  void clear() { setVisible(false); }
  const QString& type() const { return type_; }
  const QString& eigenvalues() const { return eigenvalues_; }

 protected:
  QRect clipRect() const override { return rect_->rect(); }
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(true); }
  void draw(QCPPainter* painter) override;

 private:
  QCPAxisRect* rect_;
  Theme theme_;
  QPointF at_;
  double radius_ = 0;
  QString type_, eigenvalues_;
};

}  // namespace mambarium
