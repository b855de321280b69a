// FixedPointLabel: what stands beside a fixed point, in the plane and in space: its type, and below it, smaller, the
// eigenvalues of the field there. On a screen and in a file the same, on another scale.
#pragma once

#include <QPainter>
#include <complex>
#include <span>

#include "ui/plots/theme.h"

namespace mambarium {

// "λ = −0.42, −3.1": always two digits that count, the largest real part first, a complex pair as one number, "−0.31
// ± 2.2i". More than four numbers end with "…"; none are "". Real is what is_complex (core/flow/fixed_point.h) calls
// so, and a part within 1e-9 of the largest eigenvalue's size is 0: rounding leaves such.
QString eigenvalueText(std::span<const std::complex<double>> eigenvalues);

class FixedPointLabel {
 public:
  // Beside a mark of `radius` about `at`: to the right and above, on another side where `room` ends. `device` is what
  // it will be painted on. An empty text takes no line.
  FixedPointLabel(const QString& type, const QString& eigenvalues, const QPointF& at, double radius, const QRectF& room,
                  const Theme& theme, QPaintDevice* device);
  void paint(QPainter& painter) const;

  const QRectF& ground() const { return ground_; }  // null without text
  const QRectF& typeRect() const { return type_rect_; }
  const QRectF& eigenvalueRect() const { return eigenvalue_rect_; }

 private:
  QString type_, eigenvalues_;
  Theme theme_;
  QRectF ground_, type_rect_, eigenvalue_rect_;
};

}  // namespace mambarium
