// SweepCanvas: what the charts of a sweep draw on. It is empty at the start of every drawing: charts of one sweep
// differ in everything, and are redrawn only when a choice, the size or the data change.
//
// A chart marks every number it draws with its readout; the mouse then finds the nearest mark of the rect it is in.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ui/plots/axis_range.h"
#include "ui/plots/chart.h"
#include "ui/plots/sweep_slice.h"

namespace mambarium {

struct SweepMark {
  const QCPAxisRect* rect;
  double x, y;      // on the rect's lower and left axes
  QString readout;  // HTML
};

class SweepCanvas {
 public:
  explicit SweepCanvas(Chart* chart) : chart_(chart) {}

  void clear();
  Chart& chart() { return *chart_; }
  const Theme& theme() const { return chart_->theme(); }
  double width() const { return chart_->viewport().width(); }
  double height() const { return chart_->viewport().height(); }
  QCPAxisRect* addRect(int row, int column = 0);
  void adopt(QCPAxisRect* rect);                    // goes with the others
  QCPMarginGroup* edges() { return edges_.get(); }  // for rects whose borders stand in line
  // A plain line, not selectable; sideways: keys along the left axis, values along the lower one.
  QCPGraph* addGraph(QCPAxisRect* rect, bool sideways = false);

  void mark(const QCPAxisRect* rect, double x, double y, const QString& readout);
  void markCell(const QCPAxisRect* rect, double x, double y, const SweepSlice& slice, std::size_t cell);
  const SweepMark* nearest(const QPointF& pixel) const;
  QPointF pixelOf(const SweepMark& mark) const;

 private:
  Chart* chart_;
  std::vector<QCPAxisRect*> rects_;
  std::unique_ptr<QCPMarginGroup> edges_;
  std::vector<SweepMark> marks_;
};

// The axis of the measure, linear or logarithmic with a strip for what has no logarithm. add() everything, then apply.
class SweepValueAxis {
 public:
  explicit SweepValueAxis(const SweepSlice& slice);  // a gap's axis holds 0, where the best predictor is
  void add(double value);                            // NaN is ignored
  void add(const SweepSummary& summary);             // its mean and interval
  // `room`: about how many pixels long the axis is; as many ticks as have room for their labels.
  void apply(QCPAxis* axis, const Theme& theme, double room) const;
  double place(double value) const;  // where it is drawn

 private:
  bool log_;
  std::optional<double> low_, high_;
  LogRangeFinder finder_;
  LogRange logRange() const { return finder_.range(std::nullopt); }
};

// The share of a chart's width or height that is left for one axis rect, about; and that surely is, with a long legend.
inline constexpr double usual_share = 0.75, sure_share = 0.5;

// Names along an axis of about `room` pixels, at 0, 1, 2 ...: downwards on a vertical one, every second or third where
// lines are too many; slanted on a horizontal one where they would overlap.
void setCategories(QCPAxis* axis, const QStringList& labels, const Theme& theme, double room);

// Means with error bars: the 95 % intervals, where there are any.
struct SweepPoints {
  QVector<double> keys, means, below, above;
  void append(double key, const SweepSummary& summary, const SweepValueAxis& axis);
};
QCPGraph* addPoints(SweepCanvas& canvas, QCPAxisRect* rect, const SweepPoints& points, int style, bool joined,
                    bool sideways = false);

// A translucent band between two lines over the same keys.
void addBand(SweepCanvas& canvas, QCPAxisRect* rect, const QVector<double>& keys, const QVector<double>& low,
             const QVector<double>& high, const QColor& color);

LegendEntry seriesEntry(const Theme& theme, const QString& text, int style, bool line);

}  // namespace mambarium
