#include "ui/plots/circuit_graph.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mambarium {
namespace {

constexpr double border = 2;  // between the circle of nodes and the rect
constexpr double smallest_disc = 2.5, largest_disc = 11, smallest_named = 7;
constexpr double head_length = 7, head_width = 0.42;  // of an arrow; the width is half of it, per length

}  // namespace

CircuitGraph::CircuitGraph(QCPAxis* key_axis, QCPAxis* value_axis) : QCPAbstractPlottable(key_axis, value_axis) {
  setSelectable(QCP::stNone);
}

void CircuitGraph::setGraph(std::vector<Node> nodes, std::vector<Edge> edges) {
  nodes_ = std::move(nodes);
  edges_ = std::move(edges);
}

QCPRange CircuitGraph::getKeyRange(bool& found, QCP::SignDomain) const {
  found = !nodes_.empty();
  return {-1, 1};
}

QCPRange CircuitGraph::getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const {
  found = !nodes_.empty();
  return {-1, 1};
}

QPointF CircuitGraph::pixelOf(std::size_t node) const {
  const QRect rect = keyAxis()->axisRect()->rect();
  const double half =
      std::max(std::min(rect.width(), rect.height()) / 2.0 - (border + largest_disc) * theme_.scale(), 1.0);
  const QPointF& place = nodes_[node].place;
  return QRectF(rect).center() + QPointF(half * place.x(), -half * place.y());
}

double CircuitGraph::radius() const {
  const QRect rect = keyAxis()->axisRect()->rect();
  const double around =
      std::numbers::pi * (std::min(rect.width(), rect.height()) - 2 * (border + largest_disc) * theme_.scale());
  const double room = around / static_cast<double>(std::max<std::size_t>(nodes_.size(), 1)) / 2.6;
  return std::clamp(room, smallest_disc * theme_.scale(), largest_disc * theme_.scale());
}

std::optional<std::size_t> CircuitGraph::nodeAt(const QPointF& pixel) const {
  const double reach = radius() + 2 * theme_.scale();
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const QPointF away = pixelOf(node) - pixel;
    if (std::hypot(away.x(), away.y()) <= reach) return node;
  }
  return std::nullopt;
}

void CircuitGraph::drawEdge(QCPPainter* painter, const Edge& edge) const {
  const QPointF from = pixelOf(edge.from), to = pixelOf(edge.to);
  const double length = std::hypot(to.x() - from.x(), to.y() - from.y());
  const double gap = radius() + theme_.scale();
  const double head = std::min(head_length * theme_.scale(), 1.6 * radius());
  if (length <= 2 * gap + head) return;
  const QPointF along = (to - from) / length, across(-along.y(), along.x());
  const auto drawHead = [&](const QPointF& tip, double direction) {
    const QPointF base = tip - along * (head * direction);
    const QPointF side = across * (head * head_width);
    const QPointF corners[] = {tip, base + side, base - side};
    painter->setPen(Qt::NoPen);
    painter->setBrush(edge.color);
    painter->drawPolygon(corners, 3);
  };
  const QPointF start = from + along * gap, end = to - along * gap;
  // Lines end inside their heads: where colours are translucent, an overlap would show as a darker spot.
  painter->setPen(QPen(edge.color, edge.width * theme_.scale(), Qt::SolidLine, Qt::FlatCap));
  painter->drawLine(QLineF(edge.both ? start + along * head : start, end - along * head));
  drawHead(end, 1);
  if (edge.both) drawHead(start, -1);
}

void CircuitGraph::draw(QCPPainter* painter) {
  painter->setAntialiasing(true);
  for (const Edge& edge : edges_) drawEdge(painter, edge);
  const double disc = radius();
  QFont font = theme_.smallFont();
  font.setPixelSize(std::max(static_cast<int>(std::lround(disc * 1.15)), 1));
  painter->setFont(font);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const Node& drawn = nodes_[node];
    const QPointF center = pixelOf(node);
    painter->setPen(QPen(drawn.faded ? theme_.line() : theme_.neutral(), theme_.scale()));
    painter->setBrush(drawn.color);
    painter->drawEllipse(center, disc, disc);
    if (disc < smallest_named * theme_.scale()) continue;
    painter->setPen(drawn.faded ? theme_.mutedText() : Theme::textOn(drawn.color));
    painter->drawText(QRectF(center.x() - disc, center.y() - disc, 2 * disc, 2 * disc), Qt::AlignCenter, drawn.name);
  }
  if (message_.isEmpty()) return;
  // Inside the circle of nodes, where there is one.
  QRectF rect = QRectF(keyAxis()->axisRect()->rect());
  const double inside = 0.7 * std::min(rect.width(), rect.height()) - 2 * disc;
  const QPointF center = rect.center();
  rect.setSize({std::max(inside, 1.0), std::max(inside, 1.0)});
  rect.moveCenter(center);
  painter->setFont(theme_.smallFont());
  painter->setPen(theme_.mutedText());
  painter->drawText(rect, static_cast<int>(Qt::AlignCenter) | Qt::TextWordWrap | Qt::TextDontClip, message_);
}

}  // namespace mambarium
