// Chart: a QCustomPlot that follows a Theme and a screen, with a legend above the data and labels beside the lines.
//
// QCustomPlot knows neither QPalette nor a change of screen; both are handled here and nowhere else. Layout, top to
// bottom: FlowLegend, then one or more axis rects. A "highlight" layer with its own buffer carries what follows the
// mouse, so that moving it redraws nothing else.
//
// On a screen a low chart goes without parts rather than let them lie over each other. Where its axes would have less
// than their smallest height (50 pixels unless the rect says another), it leaves out, one after the other until they
// have it: the titles below axes, the legend, the headings, which say what is drawn; last, the axes are lower. The
// title of an axis that has no room beside the others loses its unit, and then its end. A figure has the size that was
// asked for, and all its parts. Panels with layouts of their own in the chart (the circuit) see to this themselves.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "ui/plots/theme.h"

namespace mambarium {

struct LegendEntry {
  QString text;
  QPen line;        // Qt::NoPen: no line
  int marker = -1;  // -1: none
  QColor marker_color;
  bool hollow = false;
  bool operator==(const LegendEntry&) const = default;
};

// A legend that flows like text into as many rows as it needs; it takes its height from the plot and never covers data.
class FlowLegend : public QCPLayoutElement {
 public:
  explicit FlowLegend(QCustomPlot* plot) : QCPLayoutElement(plot) {}
  void setTheme(const Theme& theme) { theme_ = theme; }
  void setEntries(std::vector<LegendEntry> entries) { entries_ = std::move(entries); }
  const std::vector<LegendEntry>& entries() const { return entries_; }
  void setShown(bool shown) { shown_ = shown; }  // left out, it keeps its entries
  bool isShown() const { return shown_; }
  void update(UpdatePhase phase) override;

 protected:
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(true); }
  void draw(QCPPainter* painter) override;

 private:
  struct Place {
    QPointF origin;
    double text_width = 0;
    QString text;
  };
  double flow(double width);  // fills places_; returns the height

  Theme theme_;
  std::vector<LegendEntry> entries_;
  std::vector<Place> places_;
  bool shown_ = true;
};

struct EndLabel {
  double value = 0;  // on the axis rect's left axis
  QString text;
  QColor color;
  bool operator==(const EndLabel&) const = default;
};

// Names at the right end of horizontal lines, outside the axes, pushed apart where they would overlap.
class EndLabels : public QCPLayerable {
 public:
  explicit EndLabels(QCPAxisRect* rect);
  void setTheme(const Theme& theme) { theme_ = theme; }
  void setLabels(std::vector<EndLabel> labels);  // reserves the margin they need
  const std::vector<EndLabel>& labels() const { return labels_; }

 protected:
  QRect clipRect() const override { return parentPlot()->viewport(); }
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(true); }
  void draw(QCPPainter* painter) override;

 private:
  QCPAxisRect* rect_;
  Theme theme_;
  std::vector<EndLabel> labels_;
};

class Chart : public QCustomPlot {
  Q_OBJECT
 public:
  explicit Chart(QWidget* parent = nullptr);

  void setTheme(const Theme& theme);  // background, axes, grid, fonts; the pens of graphs are the panel's
  const Theme& theme() const { return theme_; }
  FlowLegend* flowLegend() const { return legend_; }
  QCPAxisRect* addRect(int row, int column = 0);  // row 0 is the first below the legend
  void removeRect(QCPAxisRect* rect);             // its plottables must be gone
  void setShown(QCPAxisRect* rect, bool shown);   // hidden, it takes no room and keeps all it has
  void hideAxes(QCPAxisRect* rect);               // for strips and scales that name themselves
  void setAxisTitles(QCPAxisRect* rect, const QString& x, const QString& y);
  void setHeading(QCPAxisRect* rect, const QString& text);  // a name above it
  void requestReplot() { replot(QCustomPlot::rpQueuedReplot); }
  void replotHighlight();  // only that layer

  static constexpr const char* highlight_layer = "highlight";

 Q_SIGNALS:
  void mouseLeft();
  void resized();  // the viewport has its new size and nothing is drawn yet

 protected:
  void paintEvent(QPaintEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void updateLayout() override;

 private:
  struct Titles {
    QString x, y;
  };
  void styleRect(QCPAxisRect* rect);
  // chart_parts.cpp
  struct Height {
    int usual, now;
  };
  std::vector<QCPAxisRect*> stretchingRects() const;  // none where there are other layouts among them
  bool isSqueezed() const;                            // as they lie now
  void restoreParts();
  void leaveOutTitles();
  void leaveOutHeadings();
  void lowerAxes(double share);
  void shortenTitles();

  Theme theme_;
  FlowLegend* legend_ = nullptr;
  QSet<QCPAxisRect*> bare_;
  QHash<QCPAxisRect*, Titles> titles_;
  QSet<QCPAxis*> left_out_;  // headings
  QHash<QCPAxisRect*, Height> lowered_;
};

// A scatter style for a run's marker; size in the 13-pixel design.
QCPScatterStyle scatterStyle(const Theme& theme, int marker_index, const QColor& color, double size,
                             bool hollow = false);

}  // namespace mambarium
