#include "ui/scene/flow_labels.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "ui/plots/axis_range.h"
#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"
#include "ui/scene/fixed_point_label.h"
#include "ui/scene/flow_drawing.h"
#include "ui/scene/flow_vector.h"

namespace mambarium {
namespace {

constexpr double shortest_axis = 45;  // pixels: an axis seen along its own direction gets no numbers
constexpr int most_ticks = 5;

QPointF unit(const QPointF& vector) {
  const double size = std::hypot(vector.x(), vector.y());
  return size > 0 ? vector / size : QPointF(0, 1);
}

// "z_1" with its digit below the line.
class AxisName {
 public:
  AxisName(const std::string& name, const Theme& theme, QPaintDevice* device)
      : base_(QString::fromStdString(name)), base_font_(theme.axisFont()), sub_font_(theme.axisFont()) {
    if (const qsizetype at = base_.indexOf(QLatin1Char('_')); at > 0) {
      sub_ = base_.mid(at + 1);
      base_.truncate(at);
    }
    sub_font_.setPixelSize(std::max(base_font_.pixelSize() * 3 / 4, 1));
    const QFontMetricsF metrics(base_font_, device);
    base_width_ = metrics.horizontalAdvance(base_);
    ascent_ = metrics.ascent();
    drop_ = metrics.xHeight() * 0.4;
    size_ = {base_width_ + QFontMetricsF(sub_font_, device).horizontalAdvance(sub_), metrics.height()};
  }
  const QSizeF& size() const { return size_; }
  void paint(QPainter& painter, const QPointF& top_left) const {
    const QPointF baseline = top_left + QPointF(0, ascent_);
    painter.setFont(base_font_);
    painter.drawText(baseline, base_);
    painter.setFont(sub_font_);
    painter.drawText(baseline + QPointF(base_width_, drop_), sub_);
  }

 private:
  QString base_, sub_;
  QFont base_font_, sub_font_;
  double base_width_ = 0, ascent_ = 0, drop_ = 0;
  QSizeF size_;
};

// The rectangle of this size whose centre lies from `at` along `outwards` so that it just clears `at` by `gap`.
QRectF beside(const QPointF& at, const QPointF& outwards, const QSizeF& size, double gap) {
  const double reach = std::abs(outwards.x()) * size.width() / 2 + std::abs(outwards.y()) * size.height() / 2;
  QRectF rect({0, 0}, size);
  rect.moveCenter(at + outwards * (gap + reach));
  return rect;
}

}  // namespace

std::vector<FlowTick> flowTicks(double lower, double upper, int most) {
  std::vector<FlowTick> ticks;
  const double step = niceAbove((upper - lower) / most);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
  const double slack = (upper - lower) * 1e-9;
  for (double index = std::ceil((lower - slack) / step); index * step <= upper + slack; ++index) {
    const double value = index * step;
    ticks.push_back({value, fixedText(index == 0 ? 0.0 : value, decimals)});
  }
  return ticks;
}

std::vector<FlowTick> speedTicks(const FlowSpeedRange& range) {
  if (!range.logarithmic) return flowTicks(range.lower, range.upper, most_ticks);
  std::vector<FlowTick> ticks;
  const double first = std::ceil(std::log10(range.lower) - 1e-9), last = std::floor(std::log10(range.upper) + 1e-9);
  const double step = std::max(1.0, std::ceil((last - first) / most_ticks));
  for (double power = first; power <= last; power += step) {
    ticks.push_back({std::pow(10, power), powerText(std::pow(10, power))});
  }
  if (ticks.size() < 2) {
    ticks.clear();
    for (const double end : {range.lower, range.upper}) ticks.push_back({end, QString::number(end, 'g', 2)});
  }
  return ticks;
}

QString axisNameText(const std::string& name) {
  constexpr char16_t subscript_zero = 0x2080;
  QString text = QString::fromStdString(name);
  const qsizetype line = text.indexOf(u'_');
  if (line < 0) return text;
  text.remove(line, 1);
  for (qsizetype at = line; at < text.size() && text[at] >= u'0' && text[at] <= u'9'; ++at)
    text[at] = QChar(static_cast<char16_t>(subscript_zero + (text[at].unicode() - u'0')));
  return text;
}

void paintPickMark(QPainter& painter, const QPointF& at, const Theme& theme) {
  const double inner = theme.px(5), outer = theme.px(11);
  painter.setBrush(Qt::NoBrush);
  for (const QPen& pen : {QPen(theme.panel(), theme.px(4)), QPen(theme.accent(), theme.px(2))}) {
    painter.setPen(pen);
    painter.drawEllipse(at, inner, inner);
    for (const QPointF& way : {QPointF(1, 0), QPointF(-1, 0), QPointF(0, 1), QPointF(0, -1)}) {
      painter.drawLine(at + way * inner, at + way * outer);
    }
  }
}

FlowText flowText(const Theme& theme, const QSizeF& size, bool axes, bool color_bar) {
  const QSizeF design = size / theme.scale();
  const bool names = axes && design.height() >= FlowText::lowest_with_names;
  return {.numbers = names && design.height() >= FlowText::lowest_with_numbers,
          .names = names,
          .color_bar = color_bar && design.height() >= FlowText::lowest_with_names &&
                       design.width() >= FlowText::narrowest_with_color_bar};
}

FlowMargins flowMargins(const Theme& theme, const FlowSpace& space, const FlowText& text) {
  FlowMargins margins{8, 8, 8, 8};
  if (text.names) margins = space.isFlat() ? FlowMargins{26, 8, 10, 26} : FlowMargins{22, 6, 22, 20};
  if (text.numbers) {
    margins =
        space.isFlat() ? FlowMargins{64, 18, 18, 52} : FlowMargins{space.dimension() == 2 ? 64.0 : 40.0, 16, 34, 34};
  }
  if (text.color_bar) margins.right = 104;
  const double scale = theme.scale();
  return {margins.left * scale, margins.top * scale, margins.right * scale, margins.bottom * scale};
}

// Of the box's four edges along an axis, one on its outline: the lowest, for the vertical axis the leftmost.
std::optional<FlowLabels::Edge> FlowLabels::edgeOf(std::size_t axis) const {
  const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
  const auto facesUs = [&](std::size_t across, bool upper) {
    FlowPoint outwards{}, face = space.middle();
    outwards[across] = upper ? 1 : -1;
    face[across] = (upper ? space.upper() : space.lower())[across];
    const FlowPoint sight =
        projection.camera.parallel ? projection.camera.direction() : face - projection.camera.position;
    return dot(outwards, sight) < 0;
  };
  const QPointF middle = projection.display(space.middle());
  const bool upright = axis == 2 || (space.isFlat() && axis == 1);
  std::optional<Edge> best;
  double best_score = 0;
  for (const bool high_u : {false, true}) {
    for (const bool high_v : {false, true}) {
      if (!space.isFlat() && facesUs(u, high_u) == facesUs(v, high_v)) continue;  // inside the outline
      Edge edge{space.lower(), space.upper(), {}};
      edge.from[u] = edge.to[u] = (high_u ? space.upper() : space.lower())[u];
      edge.from[v] = edge.to[v] = (high_v ? space.upper() : space.lower())[v];
      const QPointF from = projection.display(edge.from), to = projection.display(edge.to);
      if (std::hypot(to.x() - from.x(), to.y() - from.y()) < shortest_axis) continue;
      const QPointF along = unit(to - from), centre = (from + to) / 2;
      QPointF normal(-along.y(), along.x());
      if (QPointF::dotProduct(normal, centre - middle) < 0) normal = -normal;
      edge.outwards = normal;
      const double score = upright ? -centre.x() + 0.1 * centre.y() : centre.y() - 0.001 * centre.x();
      if (!best || score > best_score) best = edge, best_score = score;
    }
  }
  return best;
}

void FlowLabels::paintAxes(QPainter& painter, bool numbers) const {
  const std::size_t axes = space.isFlat() ? 2 : 3;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (const auto edge = edgeOf(axis)) paintAxis(painter, axis, *edge, numbers);
  }
}

void FlowLabels::paintAxis(QPainter& painter, std::size_t axis, const Edge& edge, bool numbers) const {
  const bool of_speed = axis == 2 && picture.dimension == 2;
  const double lower = of_speed ? 0 : picture.lower[axis], upper = of_speed ? 1 : picture.upper[axis];
  const QPointF from = projection.display(edge.from), to = projection.display(edge.to);
  const double pixels = std::hypot(to.x() - from.x(), to.y() - from.y());
  const int room = std::clamp(static_cast<int>(pixels / theme.px(space.isFlat() ? 70 : 48)), 1, most_ticks);
  const QPointF tick = edge.outwards * theme.px(4);
  painter.setFont(theme.smallFont());
  const QFontMetricsF metrics(theme.smallFont(), painter.device());
  double reach = 0;
  if (numbers && !of_speed) {
    for (const FlowTick& mark : flowTicks(lower, upper, room)) {
      const double t = (mark.value - lower) / (upper - lower);
      if (!space.isFlat() && (t < 0.04 || t > 0.96)) continue;  // would meet the next axis's
      const QPointF at = projection.display(edge.from + t * (edge.to - edge.from));
      painter.setPen(QPen(Theme::mixed(theme.line(), theme.neutral(), 0.5), 1));
      painter.drawLine(at, at + tick);
      const QSizeF size(metrics.horizontalAdvance(mark.text) + 2, metrics.height());
      const QRectF where = beside(at + tick, edge.outwards, size, theme.px(3));
      painter.setPen(theme.mutedText());
      painter.drawText(where, Qt::AlignCenter | Qt::TextDontClip, mark.text);
      reach = std::max(reach, std::abs(edge.outwards.x()) * size.width() + std::abs(edge.outwards.y()) * size.height());
    }
  }
  const AxisName name(of_speed ? "Speed" : picture.axis_names[axis], theme, painter.device());
  painter.setPen(theme.text());
  const QPointF middle = (from + to) / 2 + edge.outwards * (theme.px(numbers ? 10 : 3) + reach);
  const QSizeF size = name.size();
  const bool sideways = space.isFlat() && std::abs(edge.outwards.x()) > 0.99 && size.width() > 1.6 * size.height();
  if (!sideways) {
    name.paint(painter, beside(middle, edge.outwards, size, theme.px(2)).topLeft());
    return;
  }
  painter.save();
  painter.translate(middle + edge.outwards * (theme.px(2) + size.height() / 2));
  painter.rotate(-90);
  name.paint(painter, {-size.width() / 2, -size.height() / 2});
  painter.restore();
}

void FlowLabels::paintColorBar(QPainter& painter) const {
  const QFontMetricsF title_metrics(theme.axisFont(), painter.device());
  const double left = projection.size.width() - theme.px(92);
  const double top = theme.px(14) + title_metrics.height() + theme.px(8);
  const double height = std::min<double>(theme.px(180), projection.size.height() - top - theme.px(20));
  if (height < theme.px(40)) return;
  painter.setFont(theme.axisFont());
  painter.setPen(theme.text());
  painter.drawText(QPointF(left, theme.px(14) + title_metrics.ascent()), QStringLiteral("Speed |v(z)|"));
  const QRectF bar(left, top, theme.px(10), height);
  QLinearGradient gradient(bar.bottomLeft(), bar.topLeft());
  constexpr int stops = 32;
  for (int stop = 0; stop <= stops; ++stop)
    gradient.setColorAt(stop / double{stops}, speedColor(theme, stop / double{stops}));
  painter.fillRect(bar, gradient);
  painter.setFont(theme.smallFont());
  const QFontMetricsF metrics(theme.smallFont(), painter.device());
  for (const FlowTick& mark : speedTicks(picture.speed)) {
    const double y = bar.bottom() - shadeOf(mark.value, picture.speed) * bar.height();
    painter.setPen(QPen(theme.neutral(), 1));
    painter.drawLine(QPointF(bar.right(), y), QPointF(bar.right() + theme.px(4), y));
    painter.setPen(theme.mutedText());
    painter.drawText(QPointF(bar.right() + theme.px(7), y + metrics.capHeight() / 2), mark.text);
  }
}

void FlowLabels::paintFixedPoint(QPainter& painter, const QRectF& room) const {
  if (!picture.fixed_point) return;
  const QPointF at = projection.display(space.place(picture.fixed_point->position, FlowLayer::marks));
  const double radius = theme.px(6);
  painter.setPen(QPen(theme.panel(), theme.px(2)));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(at, radius + theme.px(1.5), radius + theme.px(1.5));
  painter.setPen(QPen(theme.text(), theme.px(2)));
  painter.setBrush(picture.fixed_point->stable ? theme.text() : theme.panel());
  painter.drawEllipse(at, radius - theme.px(1), radius - theme.px(1));
  FixedPointLabel(QString::fromStdString(picture.fixed_point->type), eigenvalueText(picture.fixed_point->eigenvalues),
                  at, radius, room, theme, painter.device())
      .paint(painter);
}

void FlowLabels::paintPick(QPainter& painter, const FlowPoint& world) const {
  paintPickMark(painter, projection.display(world), theme);
}

}  // namespace mambarium
