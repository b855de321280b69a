#include "ui/plots/circuit_graph.h"

#include <algorithm>
#include <cmath>

namespace mambarium {
namespace {

constexpr double border = 2;  // between the circle of nodes and the rect
constexpr double smallest_disc = 2.5, largest_disc = 11, smallest_named = 5.5, smallest_name = 8;
constexpr double longest_shape = 1.7;                 // of what the nodes fill, to its shorter side
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

QSizeF CircuitGraph::halves() const {
  const QRect rect = keyAxis()->axisRect()->rect();
  const double around = (border + largest_disc) * theme_.scale();
  const double x = std::max(rect.width() / 2.0 - around, 1.0), y = std::max(rect.height() / 2.0 - around, 1.0);
  return {std::min(x, longest_shape * y), std::min(y, longest_shape * x)};
}

QPointF CircuitGraph::pixelOf(std::size_t node) const {
  const QPointF& place = nodes_[node].place;
  const QSizeF half = halves();
  return QRectF(keyAxis()->axisRect()->rect()).center() + QPointF(half.width() * place.x(), -half.height() * place.y());
}

double CircuitGraph::radius() const {
  const QSizeF half = halves();
  double nearest = 4 * largest_disc * theme_.scale();
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const QPointF away = nodes_[i].place - nodes_[j].place;
      nearest = std::min(nearest, std::hypot(half.width() * away.x(), half.height() * away.y()));
    }
  constexpr double share = 0.46;  // of the way to the nearest node
  return std::clamp(share * nearest, smallest_disc * theme_.scale(), largest_disc * theme_.scale());
}

std::optional<std::size_t> CircuitGraph::nodeAt(const QPointF& pixel) const {
  const double reach = radius() + 2 * theme_.scale();
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const QPointF away = pixelOf(node) - pixel;
    if (std::hypot(away.x(), away.y()) <= reach) return node;
  }
  return std::nullopt;
}

void CircuitGraph::drawEdge(QCPPainter* painter, const Edge& edge, double radius) const {
  const QPointF from = pixelOf(edge.from), to = pixelOf(edge.to);
  const double length = std::hypot(to.x() - from.x(), to.y() - from.y());
  const double gap = radius + theme_.scale();
  const double head = std::min(head_length * theme_.scale(), 1.6 * radius);
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
  const double disc = radius();
  for (const Edge& edge : edges_) drawEdge(painter, edge, disc);
  QFont font = theme_.smallFont();
  font.setPixelSize(std::max(static_cast<int>(std::lround(disc * 1.15)), theme_.px(smallest_name)));
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
