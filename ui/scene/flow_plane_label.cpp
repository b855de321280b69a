#include "ui/scene/flow_plane_label.h"

#include "ui/scene/fixed_point_label.h"

namespace mambarium {

FlowPlaneLabel::FlowPlaneLabel(QCPAxisRect* rect) : QCPLayerable(rect->parentPlot()), rect_(rect) {
  setLayer(QStringLiteral("axes"));
  setVisible(false);
}

void FlowPlaneLabel::setLabel(const QPointF& at, double radius, const QString& type, const QString& eigenvalues,
                              const Theme& theme) {
  at_ = at;
  radius_ = radius;
  type_ = type;
  eigenvalues_ = eigenvalues;
  theme_ = theme;
  setVisible(true);
}

void FlowPlaneLabel::draw(QCPPainter* painter) {
  const QPointF at(rect_->axis(QCPAxis::atBottom)->coordToPixel(at_.x()),
                   rect_->axis(QCPAxis::atLeft)->coordToPixel(at_.y()));
  FixedPointLabel(type_, eigenvalues_, at, radius_, rect_->rect(), theme_, painter->device()).paint(*painter);
}

}  // namespace mambarium
