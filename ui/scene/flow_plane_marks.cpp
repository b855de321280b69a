#include "ui/scene/flow_plane_marks.h"

#include <cmath>

#include "ui/scene/flow_labels.h"

namespace mambarium {

FlowPlaneMarks::FlowPlaneMarks(QCPAxisRect* rect) : QCPLayerable(rect->parentPlot()), rect_(rect) {
  setLayer(QStringLiteral("axes"));
}

void FlowPlaneMarks::setHeads(std::vector<Head> heads, const Theme& theme) {
  heads_ = std::move(heads);
  theme_ = theme;
}

void FlowPlaneMarks::setPick(const QPointF& at, const Theme& theme) {
  pick_ = at;
  theme_ = theme;
}

void FlowPlaneMarks::clear() {
  heads_.clear();
  pick_.reset();
}

QPointF FlowPlaneMarks::pixelOf(const QPointF& at) const {
  return {rect_->axis(QCPAxis::atBottom)->coordToPixel(at.x()), rect_->axis(QCPAxis::atLeft)->coordToPixel(at.y())};
}

void FlowPlaneMarks::draw(QCPPainter* painter) {
  const double along = theme_.px(7), across = theme_.px(3);
  painter->setPen(Qt::NoPen);
  painter->setBrush(theme_.text());
  for (const Head& head : heads_) {
    const QPointF tip = pixelOf(head.tip), way = tip - pixelOf(head.before);
    const double length = std::hypot(way.x(), way.y());
    if (!(length > 0)) continue;
    const QPointF forward = way / length, sideways(-forward.y(), forward.x());
    const QPointF middle = tip + forward * (along / 2), back = middle - forward * along;
    painter->drawPolygon(QPolygonF({middle, back + sideways * across, back - sideways * across}));
  }
  if (pick_) paintPickMark(*painter, pixelOf(*pick_), theme_);
}

}  // namespace mambarium
