// The part of MotifProfileChart that knows where everything stands and paints it.

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "core/contract/text.h"
#include "ui/form/motif_profile_chart.h"
#include "ui/session/problem_text.h"

namespace mambarium {

namespace {

constexpr double small_of_base = 11.0 / 13.0;
constexpr double bar_of_column = 0.7, margin = 4, lines_of_plot = 6.5, lines_of_picture = 1.35, radius = 4;

// The corners a, b, c of the triads' descriptions, in a square from 0 to 1: b to c runs along the foot.
constexpr std::array<std::array<double, 2>, 3> corners = {{{0.5, 0.08}, {0.04, 0.88}, {0.96, 0.88}}};

void paintEdge(QPainter& painter, const QPointF& from, const QPointF& to, bool both, double gap, const QColor& color) {
  const double length = std::hypot(to.x() - from.x(), to.y() - from.y());
  const QPointF along = (to - from) / length, across(-along.y(), along.x());
  const double head = 0.3 * length;
  const QPointF start = from + along * gap, end = to - along * gap;
  painter.setPen(QPen(color, length / 15, Qt::SolidLine, Qt::FlatCap));
  painter.drawLine(QLineF(both ? start + along * head : start, end - along * head));
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  const auto paintHead = [&](const QPointF& tip, const QPointF& back) {
    const QPointF base = tip + back * head, side = across * (0.5 * head);
    const std::array<QPointF, 3> points = {tip, base + side, base - side};
    painter.drawPolygon(points.data(), static_cast<int>(points.size()));
  };
  paintHead(end, -along);
  if (both) paintHead(start, along);
}

void paintTriad(QPainter& painter, std::size_t triad, const QRectF& square, const QColor& color) {
  const TriadCode code = triads()[triad].example;
  const double disc = square.width() * 0.09;
  std::array<QPointF, 3> places;
  for (std::size_t node = 0; node < places.size(); ++node) {
    places[node] = {square.left() + corners[node][0] * square.width(),
                    square.top() + corners[node][1] * square.height()};
  }
  for (std::size_t from = 0; from < places.size(); ++from) {
    for (std::size_t to = 0; to < places.size(); ++to) {
      if (from == to || (code & triad_edge(from, to)) == 0) continue;
      const bool both = (code & triad_edge(to, from)) != 0;
      if (!both || from < to) paintEdge(painter, places[from], places[to], both, disc, color);
    }
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  for (const QPointF& place : places) painter.drawEllipse(place, disc, disc);
}

}  // namespace

QFont MotifProfileChart::smallFont() const {
  QFont small = font();
  if (small.pixelSize() > 0) {
    small.setPixelSize(std::max(static_cast<int>(std::lround(small.pixelSize() * small_of_base)), 1));
  } else {
    small.setPointSizeF(small.pointSizeF() * small_of_base);
  }
  return small;
}

QSize MotifProfileChart::minimumSizeHint() const {
  const QFontMetrics small(smallFont());
  const double line = small.height();
  const double names = small.horizontalAdvance(QStringLiteral("000M"));
  const double height = (lines_of_plot + 1 + lines_of_picture + 1) * line + names + 4 * margin;
  const double width = small.horizontalAdvance(QStringLiteral("0.00")) + 2 * margin +
                       static_cast<double>(motif_count) * small.horizontalAdvance(QStringLiteral("00"));
  return {static_cast<int>(std::ceil(width)), static_cast<int>(std::ceil(height))};
}

QSize MotifProfileChart::sizeHint() const {
  return minimumSizeHint();
}

QRectF MotifProfileChart::plot() const {
  const QFontMetrics small(smallFont());
  const double line = small.height();
  const double gutter = small.horizontalAdvance(QStringLiteral("0.00")) + 2 * margin;
  return {gutter, line + margin, width() - gutter - margin, lines_of_plot * line};  // the value stands above a full bar
}

QRectF MotifProfileChart::column(std::size_t triad) const {
  const QRectF bars = plot();
  const double wide = bars.width() / static_cast<double>(motif_count);
  return {bars.left() + static_cast<double>(triad) * wide, bars.top(), wide, height() - margin / 2 - bars.top()};
}

QPointF MotifProfileChart::pointOf(std::size_t triad, double of_share) const {
  const QRectF bars = plot();
  return {column(triad).center().x(), bars.bottom() - std::clamp(of_share / top_, 0.0, 1.0) * bars.height()};
}

void MotifProfileChart::paintScale(QPainter& painter) const {
  const QRectF bars = plot();
  painter.setFont(smallFont());
  for (const double part : {0.0, 0.5, 1.0}) {
    const double y = std::round(bars.bottom() - part * bars.height()) + 0.5;
    painter.setPen(palette().color(part > 0 ? QPalette::Midlight : QPalette::Mid));
    painter.drawLine(QLineF(bars.left(), y, bars.right(), y));
    painter.setPen(palette().color(isEnabled() ? QPalette::PlaceholderText : QPalette::Text));
    const QRectF place(0, y - bars.height() / 4, bars.left() - margin, bars.height() / 2);
    painter.drawText(place, Qt::AlignRight | Qt::AlignVCenter, QString::fromStdString(shortest(part * top_)));
  }
}

void MotifProfileChart::paintBar(QPainter& painter, std::size_t triad) const {
  const QRectF place = column(triad);
  const std::optional<double> height = share(triad);
  if (!height) {
    painter.setFont(smallFont());
    painter.setPen(palette().color(isEnabled() ? QPalette::BrightText : QPalette::Text));
    painter.drawText(QRectF(place.left(), plot().top(), place.width(), plot().height()),
                     Qt::AlignHCenter | Qt::AlignBottom, QStringLiteral("?"));
    return;
  }
  const QPointF end = pointOf(triad, *height);
  const double wide = place.width() * bar_of_column;
  painter.setPen(Qt::NoPen);
  painter.setBrush(palette().color(isAllowed() || !isEnabled() ? QPalette::Highlight : QPalette::BrightText));
  painter.drawRect(QRectF(end.x() - wide / 2, end.y(), wide, plot().bottom() - end.y()));
}

void MotifProfileChart::paintNames(QPainter& painter, std::size_t triad) const {
  const QRectF place = column(triad);
  const QFontMetrics small(smallFont());
  const double line = small.height();
  const bool is_chosen = triad == chosen_ && hasFocus();
  const QColor strong = palette().color(QPalette::Text);
  const QColor color = is_chosen || !isEnabled() ? strong : palette().color(QPalette::PlaceholderText);
  double y = plot().bottom() + margin / 2;
  painter.setFont(smallFont());
  painter.setPen(color);
  painter.drawText(QRectF(place.left() - margin, y, place.width() + 2 * margin, line), Qt::AlignCenter,
                   QString::number(triads()[triad].motif));
  y += line;
  const double side = std::min(lines_of_picture * line - margin / 2, place.width() - 2);
  paintTriad(painter, triad, QRectF(place.center().x() - side / 2, y, side, side), color);
  y += lines_of_picture * line + margin / 2;
  painter.save();
  painter.translate(place.center().x(), y);
  painter.rotate(90);
  painter.setPen(color);
  painter.drawText(QRectF(0, -line / 2, place.bottom() - y, line), Qt::AlignLeft | Qt::AlignVCenter,
                   fromView(triads()[triad].name));
  painter.restore();
}

void MotifProfileChart::paintValue(QPainter& painter, std::size_t triad) const {
  if (shares_[triad].isEmpty()) return;
  const QFontMetrics small(smallFont());
  const QString value = small.elidedText(shares_[triad], Qt::ElideRight, width() / 2);
  const double wide = small.horizontalAdvance(value) + 2 * margin;
  const QPointF end = pointOf(triad, share(triad).value_or(0));
  QRectF place(end.x() - wide / 2, end.y() - small.height() - 1, wide, small.height());
  place.moveLeft(std::clamp(place.left(), 1.0, std::max(width() - wide - 1, 1.0)));
  painter.setPen(Qt::NoPen);
  painter.setBrush(palette().color(QPalette::Base));
  painter.drawRect(place);
  painter.setFont(smallFont());
  painter.setPen(palette().color(QPalette::Text));
  painter.drawText(place, Qt::AlignCenter, value);
}

void MotifProfileChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QPalette& colors = palette();
  painter.setPen(QPen(colors.color(hasFocus() ? QPalette::Highlight : QPalette::Mid), 1));
  painter.setBrush(colors.color(isEnabled() ? QPalette::Base : QPalette::Window));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  if (hasFocus()) {
    QColor band = colors.color(QPalette::Highlight);
    band.setAlphaF(0.15F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(band);
    painter.drawRoundedRect(column(chosen_), radius / 2, radius / 2);
  }
  paintScale(painter);
  for (std::size_t triad = 0; triad < motif_count; ++triad) {
    paintBar(painter, triad);
    paintNames(painter, triad);
  }
  if (hovered_ && !swept_ && isEnabled()) paintValue(painter, *hovered_);
  if (hasFocus()) paintValue(painter, chosen_);
}

}  // namespace mambarium
