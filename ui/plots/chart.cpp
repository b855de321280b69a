#include "ui/plots/chart.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace mambarium {
namespace {

constexpr double sample_width = 22, sample_gap = 6, entry_gap = 16;
constexpr double end_label_gap = 8;

void drawMarker(QPainter* painter, const Theme& theme, QPointF center, int marker, const QColor& color, bool hollow) {
  painter->save();
  painter->translate(center);
  const double scale = theme.scale() * 1.05;
  painter->scale(scale, scale);
  painter->setPen(QPen(color, 1.2));
  painter->setBrush(hollow || !Theme::markerIsFilled(marker) ? QBrush(Qt::NoBrush) : QBrush(color));
  painter->drawPath(Theme::markerPath(marker));
  painter->restore();
}

}  // namespace

double FlowLegend::flow(double width) {
  places_.clear();
  if (entries_.empty()) return 0;
  const QFontMetricsF metrics(theme_.axisFont());
  const double line_height = std::ceil(metrics.height() + theme_.px(2));
  const double sample = theme_.px(sample_width) + theme_.px(sample_gap);
  double x = 0, y = 0;
  for (const LegendEntry& entry : entries_) {
    Place place;
    place.text = metrics.elidedText(entry.text, Qt::ElideRight, std::max(width - sample, 40.0));
    place.text_width = metrics.horizontalAdvance(place.text) + 1;
    if (x > 0 && x + sample + place.text_width > width) {
      x = 0;
      y += line_height;
    }
    place.origin = {x, y};
    x += sample + place.text_width + theme_.px(entry_gap);
    places_.push_back(place);
  }
  return y + line_height;
}

void FlowLegend::update(UpdatePhase phase) {
  if (phase == upPreparation) {
    const int height = shown_ ? static_cast<int>(std::ceil(flow(parentPlot()->viewport().width() - theme_.px(20)))) : 0;
    setMinimumSize(10, height);
    setMaximumSize(QWIDGETSIZE_MAX, height);
  }
  QCPLayoutElement::update(phase);
}

void FlowLegend::draw(QCPPainter* painter) {
  if (!shown_) return;
  painter->setFont(theme_.axisFont());
  const QFontMetricsF metrics(theme_.axisFont());
  for (std::size_t i = 0; i < places_.size() && i < entries_.size(); ++i) {
    const LegendEntry& entry = entries_[i];
    const QPointF origin = QPointF(mRect.topLeft()) + places_[i].origin;
    const double middle = origin.y() + metrics.height() / 2;
    const double width = theme_.px(sample_width);
    if (entry.line.style() != Qt::NoPen) {
      painter->setPen(entry.line);
      painter->drawLine(QLineF(origin.x(), middle, origin.x() + width, middle));
    }
    if (entry.marker >= 0)
      drawMarker(painter, theme_, {origin.x() + width / 2, middle}, entry.marker, entry.marker_color, entry.hollow);
    painter->setPen(theme_.text());
    painter->drawText(QPointF(origin.x() + width + theme_.px(sample_gap), origin.y() + metrics.ascent()),
                      places_[i].text);
  }
}

EndLabels::EndLabels(QCPAxisRect* rect) : QCPLayerable(rect->parentPlot()), rect_(rect) {
  setLayer(QStringLiteral("axes"));
}

void EndLabels::setLabels(std::vector<EndLabel> labels) {
  labels_ = std::move(labels);
  const QFontMetricsF metrics(theme_.smallFont());
  double widest = 0;
  for (const EndLabel& label : labels_) widest = std::max(widest, metrics.horizontalAdvance(label.text));
  const int margin =
      labels_.empty() ? theme_.px(10) : static_cast<int>(std::ceil(widest)) + theme_.px(end_label_gap + 4);
  rect_->setAutoMargins(QCP::msLeft | QCP::msTop | QCP::msBottom);
  QMargins margins = rect_->margins();
  margins.setRight(margin);
  rect_->setMargins(margins);
}

void EndLabels::draw(QCPPainter* painter) {
  if (labels_.empty()) return;
  const QFontMetricsF metrics(theme_.smallFont());
  const double height = metrics.height() * 0.95;
  const QCPAxis* axis = rect_->axis(QCPAxis::atLeft);

  std::vector<std::size_t> order(labels_.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> wanted;
  for (const EndLabel& label : labels_)
    wanted.push_back(std::clamp(axis->coordToPixel(label.value), double(rect_->top()), double(rect_->bottom())));
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return wanted[a] < wanted[b]; });

  std::vector<double> y = wanted;
  for (std::size_t i = 1; i < order.size(); ++i) y[order[i]] = std::max(y[order[i]], y[order[i - 1]] + height);
  double limit = rect_->bottom() + height / 2;
  for (std::size_t i = order.size(); i-- > 0;) {
    y[order[i]] = std::min(y[order[i]], limit);
    limit = y[order[i]] - height;
  }

  painter->setFont(theme_.smallFont());
  const double x0 = rect_->right() + 1;
  const double x1 = x0 + theme_.px(end_label_gap);
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    if (std::abs(y[i] - wanted[i]) > 1) {
      painter->setPen(QPen(theme_.line(), theme_.scale()));
      painter->drawLine(QLineF(x0, wanted[i], x1 - theme_.px(2), y[i]));
    }
    painter->setPen(labels_[i].color);
    painter->drawText(QPointF(x1, y[i] + (metrics.ascent() - metrics.descent()) / 2), labels_[i].text);
  }
}

Chart::Chart(QWidget* parent) : QCustomPlot(parent) {
  plotLayout()->clear();
  legend_ = new FlowLegend(this);
  plotLayout()->addElement(0, 0, legend_);
  addLayer(QLatin1String(highlight_layer), layer(QStringLiteral("overlay")), limBelow);
  layer(QLatin1String(highlight_layer))->setMode(QCPLayer::lmBuffered);
  setNoAntialiasingOnDrag(false);
  setPlottingHints(QCP::phFastPolylines | QCP::phCacheLabels);
  setFocusPolicy(Qt::NoFocus);
  setMinimumSize(160, 90);
  // Ticks are made before the margins are known; those that follow the width are made again.
  connect(this, &QCustomPlot::afterLayout, this, [this] {
    for (QCPAxisRect* rect : axisRects()) rect->update(QCPLayoutElement::upPreparation);
  });
}

void Chart::setTheme(const Theme& theme) {
  theme_ = theme;
  setBackground(QBrush(theme.panel()));
  legend_->setTheme(theme);
  plotLayout()->setRowSpacing(theme.px(4));
  plotLayout()->setColumnSpacing(theme.px(10));
  legend_->setMargins(QMargins(theme.px(12), theme.px(4), theme.px(8), 0));
  for (QCPAxisRect* rect : axisRects()) styleRect(rect);
}

QCPAxisRect* Chart::addRect(int row, int column) {
  auto* rect = new QCPAxisRect(this);
  for (QCPAxis* axis : rect->axes()) axis->setLayer(QStringLiteral("axes"));
  for (QCPAxis* axis : rect->axes()) axis->grid()->setLayer(QStringLiteral("grid"));
  rect->setBackground(Qt::NoBrush);
  plotLayout()->addElement(row + 1, column, rect);
  plotLayout()->setRowStretchFactor(0, 0.001);
  styleRect(rect);
  return rect;
}

void Chart::removeRect(QCPAxisRect* rect) {
  bare_.remove(rect);
  titles_.remove(rect);
  left_out_.remove(rect->axis(QCPAxis::atTop));
  lowered_.remove(rect);
  plotLayout()->remove(rect);
}

void Chart::setShown(QCPAxisRect* rect, bool shown) {
  rect->setVisible(shown);
  rect->setAutoMargins(shown ? QCP::msAll : QCP::msNone);
  if (!shown) rect->setMargins({});
  rect->setMinimumSize(shown ? QSize(50, 50) : QSize(0, 0));
  rect->setMaximumSize(QWIDGETSIZE_MAX, shown ? QWIDGETSIZE_MAX : 0);
}

void Chart::hideAxes(QCPAxisRect* rect) {
  bare_.insert(rect);
  styleRect(rect);
}

void Chart::styleRect(QCPAxisRect* rect) {
  rect->setMinimumMargins(QMargins(theme_.px(8), theme_.px(8), theme_.px(10), theme_.px(6)));
  for (QCPAxis* axis : rect->axes()) {
    const bool shown =
        !bare_.contains(rect) && (axis->axisType() == QCPAxis::atLeft || axis->axisType() == QCPAxis::atBottom);
    axis->setVisible(shown);
    axis->grid()->setVisible(shown);
    const QPen line(theme_.line(), theme_.scale());
    axis->setBasePen(line);
    axis->setTickPen(line);
    axis->setSubTickPen(line);
    axis->setTickLength(0, theme_.px(4));
    axis->setSubTickLength(0, theme_.px(2));
    axis->setTickLabelFont(theme_.smallFont());
    axis->setTickLabelColor(theme_.mutedText());
    axis->setTickLabelPadding(theme_.px(4));
    axis->setLabelFont(theme_.axisFont());
    axis->setLabelColor(theme_.text());
    axis->setLabelPadding(theme_.px(4));
    axis->setPadding(theme_.px(2));
    axis->grid()->setPen(QPen(theme_.grid(), theme_.scale()));
    axis->grid()->setSubGridVisible(false);
    axis->grid()->setZeroLinePen(Qt::NoPen);
  }
}

void Chart::setAxisTitles(QCPAxisRect* rect, const QString& x, const QString& y) {
  titles_[rect] = {x, y};
  rect->axis(QCPAxis::atBottom)->setLabel(x);
  rect->axis(QCPAxis::atLeft)->setLabel(y);
}

void Chart::setHeading(QCPAxisRect* rect, const QString& text) {
  QCPAxis* top = rect->axis(QCPAxis::atTop);
  left_out_.remove(top);
  top->setVisible(true);
  top->grid()->setVisible(false);
  top->setBasePen(Qt::NoPen);
  top->setTicks(false);
  top->setTickLabels(false);
  top->setLabel(text);
}

void Chart::replotHighlight() {
  if (isVisible()) layer(QLatin1String(highlight_layer))->replot();
}

void Chart::paintEvent(QPaintEvent* event) {
  if (!qFuzzyCompare(bufferDevicePixelRatio(), devicePixelRatioF())) {
    setBufferDevicePixelRatio(devicePixelRatioF());
    replot(QCustomPlot::rpQueuedRefresh);
  }
  QCustomPlot::paintEvent(event);
}

void Chart::resizeEvent(QResizeEvent* event) {
  setViewport(rect());
  Q_EMIT resized();
  QCustomPlot::resizeEvent(event);
}

void Chart::leaveEvent(QEvent* event) {
  Q_EMIT mouseLeft();
  QCustomPlot::leaveEvent(event);
}

QCPScatterStyle scatterStyle(const Theme& theme, int marker_index, const QColor& color, double size, bool hollow) {
  const bool filled = Theme::markerIsFilled(marker_index) && !hollow;
  return {Theme::markerPath(marker_index), QPen(color, 1.2 * theme.scale()),
          filled ? QBrush(color)
                 : QBrush(hollow && Theme::markerIsFilled(marker_index) ? theme.panel() : QColor(Qt::transparent)),
          size * theme.scale()};
}

}  // namespace mambarium
