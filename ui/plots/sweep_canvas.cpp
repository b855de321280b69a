#include "ui/plots/sweep_canvas.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"
#include "ui/plots/sweep_text.h"

namespace mambarium {
namespace {

constexpr double lowest_log_floor = 1e-6;  // evaluations carry more noise than this

}  // namespace

void SweepCanvas::clear() {
  marks_.clear();
  chart_->clearPlottables();
  chart_->clearItems();
  for (QCPAxisRect* rect : rects_) chart_->removeRect(rect);
  rects_.clear();
  edges_ = std::make_unique<QCPMarginGroup>(chart_);
  chart_->plotLayout()->simplify();
  chart_->plotLayout()->setColumnStretchFactor(0, 1);
  chart_->flowLegend()->setEntries({});
}

QCPAxisRect* SweepCanvas::addRect(int row, int column) {
  adopt(chart_->addRect(row, column));
  return rects_.back();
}

void SweepCanvas::adopt(QCPAxisRect* rect) {
  rects_.push_back(rect);
}

QCPGraph* SweepCanvas::addGraph(QCPAxisRect* rect, bool sideways) {
  QCPAxis *below = rect->axis(QCPAxis::atBottom), *beside = rect->axis(QCPAxis::atLeft);
  QCPGraph* graph = sideways ? chart_->addGraph(beside, below) : chart_->addGraph(below, beside);
  graph->setSelectable(QCP::stNone);
  return graph;
}

void SweepCanvas::mark(const QCPAxisRect* rect, double x, double y, const QString& readout) {
  marks_.push_back({rect, x, y, readout});
}

void SweepCanvas::markCell(const QCPAxisRect* rect, double x, double y, const SweepSlice& slice, std::size_t cell) {
  const SweepSummary& summary = slice.summary(cell);
  mark(rect, x, y,
       QObject::tr("<b>%1</b><br>%2, %3 of %4")
           .arg(slice.cellLabel(cell).toHtmlEscaped(), summaryText(slice.measure(), summary))
           .arg(summary.n)
           .arg(countText(std::ssize(slice.result().seeds), QObject::tr("seed"), QObject::tr("seeds"))));
}

QPointF SweepCanvas::pixelOf(const SweepMark& mark) const {
  return {mark.rect->axis(QCPAxis::atBottom)->coordToPixel(mark.x),
          mark.rect->axis(QCPAxis::atLeft)->coordToPixel(mark.y)};
}

const SweepMark* SweepCanvas::nearest(const QPointF& pixel) const {
  const SweepMark* found = nullptr;
  double least = 0;
  for (const SweepMark& mark : marks_) {
    if (!mark.rect->rect().contains(pixel.toPoint())) continue;
    const QPointF away = pixelOf(mark) - pixel;
    const double distance = QPointF::dotProduct(away, away);
    if (found && distance >= least) continue;
    found = &mark;
    least = distance;
  }
  return found;
}

SweepValueAxis::SweepValueAxis(const SweepSlice& slice) : log_(slice.log()), finder_(lowest_log_floor) {
  if (!log_ && slice.measure().name.starts_with("gap_")) add(0);
}

void SweepValueAxis::add(double value) {
  if (!std::isfinite(value)) return;
  finder_.add(value);
  low_ = std::min(low_.value_or(value), value);
  high_ = std::max(high_.value_or(value), value);
}

void SweepValueAxis::add(const SweepSummary& summary) {
  for (const double value : {summary.mean, summary.low, summary.high}) add(value);
}

double SweepValueAxis::place(double value) const {
  return log_ && std::isfinite(value) ? logRange().place(value) : value;
}

void SweepValueAxis::apply(QCPAxis* axis, const Theme& theme, double room) const {
  if (!low_) return;
  if (log_) {
    const LogRange range = logRange();
    const QSharedPointer<LogStripTicker> ticker(new LogStripTicker(powerText));
    ticker->setLogRange(range,
                        range.clips_positive ? QStringLiteral("< ") + powerText(range.floor) : QStringLiteral("≤ 0"));
    axis->setScaleType(QCPAxis::stLogarithmic);
    axis->setTicker(ticker);
    axis->setRange(range.end(), range.upper);
    return;
  }
  const AxisRange range = linearRange(*low_, *high_, std::nullopt);
  const QSharedPointer<TidyTicker> ticker(new TidyTicker);
  constexpr double lines_a_tick = 2.2;
  constexpr int fewest = 2, usual = 5;
  const double ticks = room / (lines_a_tick * QFontMetricsF(theme.smallFont()).height());
  ticker->setTickCount(std::clamp(static_cast<int>(ticks), fewest, usual));
  axis->setTicker(ticker);
  axis->setRange(range.lower, range.upper);
  axis->grid()->setZeroLinePen(QPen(theme.neutral(), theme.scale()));
}

void setCategories(QCPAxis* axis, const QStringList& labels, const Theme& theme, double room) {
  const QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
  const QFontMetricsF metrics(theme.smallFont());
  const bool is_vertical = axis->orientation() == Qt::Vertical;
  const double each = room / std::max(static_cast<double>(labels.size()), 1.0);
  const int step = is_vertical ? std::max(static_cast<int>(std::ceil(metrics.height() / each)), 1) : 1;
  double widest = 0;
  for (int index = 0; index < labels.size(); index += step) {
    ticker->addTick(index, labels[index]);
    widest = std::max(widest, metrics.horizontalAdvance(labels[index]));
  }
  constexpr double slant = -30;
  axis->setTicker(ticker);
  axis->setTickLabelRotation(!is_vertical && widest + theme.px(8) > each ? slant : 0);
  axis->setRange(-0.5, static_cast<double>(labels.size()) - 0.5);
  axis->setRangeReversed(is_vertical);
  axis->grid()->setVisible(false);
}

void SweepPoints::append(double key, const SweepSummary& summary, const SweepValueAxis& axis) {
  if (summary.n == 0) return;
  const double mean = axis.place(summary.mean);
  keys.append(key);
  means.append(mean);
  below.append(mean - axis.place(summary.low));
  above.append(axis.place(summary.high) - mean);
}

QCPGraph* addPoints(SweepCanvas& canvas, QCPAxisRect* rect, const SweepPoints& points, int style, bool joined,
                    bool sideways) {
  const Theme& theme = canvas.theme();
  const QColor color = theme.runColor(style);
  QCPGraph* graph = canvas.addGraph(rect, sideways);
  graph->setPen(joined ? theme.runPen(style, style) : QPen(color));
  graph->setLineStyle(joined ? QCPGraph::lsLine : QCPGraph::lsNone);
  graph->setScatterStyle(scatterStyle(theme, style, color, 7));
  graph->setData(points.keys, points.means, true);
  auto* bars = new QCPErrorBars(graph->keyAxis(), graph->valueAxis());
  bars->setSelectable(QCP::stNone);
  bars->setDataPlottable(graph);
  bars->setData(points.below, points.above);
  bars->setPen(QPen(color, theme.scale()));
  bars->setWhiskerWidth(theme.px(5));
  bars->setSymbolGap(0);
  return graph;
}

void addBand(SweepCanvas& canvas, QCPAxisRect* rect, const QVector<double>& keys, const QVector<double>& low,
             const QVector<double>& high, const QColor& color) {
  QCPGraph* lower = canvas.addGraph(rect);
  lower->setPen(Qt::NoPen);
  lower->setData(keys, low, true);
  QCPGraph* upper = canvas.addGraph(rect);
  upper->setPen(Qt::NoPen);
  upper->setData(keys, high, true);
  QColor pale = color;
  pale.setAlpha(50);
  upper->setBrush(pale);
  upper->setChannelFillGraph(lower);
}

LegendEntry seriesEntry(const Theme& theme, const QString& text, int style, bool line) {
  return {text, line ? theme.runPen(style, style) : QPen(Qt::NoPen), style, theme.runColor(style)};
}

}  // namespace mambarium
