#include "ui/icons.h"

#include <QIconEngine>
#include <QPainter>
#include <QPainterPath>
#include <QPixmap>

namespace mambarium {

namespace {

// All signs are drawn in a square of 16.
struct Drawing {
  QPainterPath filled, stroked;
};

Drawing eye(bool open) {
  Drawing drawing;
  drawing.stroked.moveTo(1.5, 8);
  drawing.stroked.quadTo(8, 1.5, 14.5, 8);
  drawing.stroked.quadTo(8, 14.5, 1.5, 8);
  if (open) {
    drawing.filled.addEllipse(QPointF(8, 8), 2.2, 2.2);
  } else {
    drawing.stroked.moveTo(3, 13.5);
    drawing.stroked.lineTo(13, 2.5);
  }
  return drawing;
}

Drawing drawingOf(Sign sign) {
  Drawing drawing;
  QPainterPath &filled = drawing.filled, &stroked = drawing.stroked;
  const auto triangle = [&filled](double left, double right) {
    filled.addPolygon(QPolygonF({{left, 2.5}, {right, 8}, {left, 13.5}, {left, 2.5}}));
  };
  const auto cross = [&stroked](double near, double far) {
    stroked.moveTo(near, near);
    stroked.lineTo(far, far);
    stroked.moveTo(near, far);
    stroked.lineTo(far, near);
  };
  switch (sign) {
    case Sign::play:
      triangle(4, 13.5);
      break;
    case Sign::pause:
      filled.addRect(3.5, 2.5, 3.2, 11);
      filled.addRect(9.3, 2.5, 3.2, 11);
      break;
    case Sign::step:
      triangle(3, 10);
      filled.addRect(11, 2.5, 2.2, 11);
      break;
    case Sign::reset:
      stroked.arcMoveTo(2.5, 2.5, 11, 11, 150);
      stroked.arcTo(2.5, 2.5, 11, 11, 150, -300);
      filled.addPolygon(QPolygonF({{1.2, 1.8}, {6.6, 4.2}, {2.0, 7.4}, {1.2, 1.8}}));
      break;
    case Sign::shown:
      return eye(true);
    case Sign::hidden:
      return eye(false);
    case Sign::menu:
      for (const double y : {3.2, 8.0, 12.8}) filled.addEllipse(QPointF(8, y), 1.4, 1.4);
      break;
    case Sign::maximise:
      stroked.moveTo(9.5, 2.5);
      stroked.lineTo(13.5, 2.5);
      stroked.lineTo(13.5, 6.5);
      stroked.moveTo(6.5, 13.5);
      stroked.lineTo(2.5, 13.5);
      stroked.lineTo(2.5, 9.5);
      stroked.moveTo(13.5, 2.5);
      stroked.lineTo(9, 7);
      stroked.moveTo(2.5, 13.5);
      stroked.lineTo(7, 9);
      break;
    case Sign::restore:
      stroked.moveTo(9, 3);
      stroked.lineTo(9, 7);
      stroked.lineTo(13, 7);
      stroked.moveTo(7, 13);
      stroked.lineTo(7, 9);
      stroked.lineTo(3, 9);
      stroked.moveTo(9, 7);
      stroked.lineTo(13.5, 2.5);
      stroked.moveTo(7, 9);
      stroked.lineTo(2.5, 13.5);
      break;
    case Sign::close:
      cross(4, 12);
      break;
  }
  return drawing;
}

class SignEngine : public QIconEngine {
 public:
  SignEngine(Sign sign, const QColor& color, const QColor& disabled)
      : sign_(sign), color_(color), disabled_(disabled) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
    const Drawing drawing = drawingOf(sign_);
    const QColor color = mode == QIcon::Disabled ? disabled_ : color_;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->translate(rect.topLeft());
    painter->scale(rect.width() / 16.0, rect.height() / 16.0);
    painter->fillPath(drawing.filled, color);
    painter->strokePath(drawing.stroked, QPen(color, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter->restore();
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    if (size.isEmpty()) return {};
    QPixmap pixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return pixmap;
  }
  QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal) override {
    return pixmap(size, mode, state);
  }
  QIconEngine* clone() const override { return new SignEngine(*this); }

 private:
  Sign sign_;
  QColor color_, disabled_;
};

}  // namespace

QIcon signIcon(Sign sign, const QColor& color, const QColor& disabled) {
  return QIcon(new SignEngine(sign, color, disabled));
}

}  // namespace mambarium
