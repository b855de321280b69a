// StepPanel: a panel whose horizontal axis is the training step (loss, gap). It keeps the step axis, the reference
// labels, the pool of graphs and the hover line; the panel itself says which curves there are.
#pragma once

#include "ui/plots/axis_range.h"
#include "ui/plots/estimator_name.h"
#include "ui/plots/graph_pool.h"
#include "ui/plots/plot_panel.h"

namespace mambarium {

class StepPanel : public PlotPanel {
  Q_OBJECT
 protected:
  StepPanel(const QString& id, const QString& title, const QString& empty_text, QWidget* parent);

  bool prepare(const PanelChange& change) override;
  void hover(const QPointF& pixel) override;
  void leave() override;

  // The readout of one run at one evaluation: HTML without the run's name.
  virtual QString readout(const RunSeries& run, const MetricsRow& row) const = 0;
  // Where that evaluation is drawn.
  virtual double drawnValue(const MetricsRow& row) const = 0;
  // Ranges start afresh when another set of runs is shown.
  virtual void forgetRanges() {}

  QCPAxisRect* rect() const { return rect_; }
  QCPAxis* xAxis() const { return rect_->axis(QCPAxis::atBottom); }
  QCPAxis* yAxis() const { return rect_->axis(QCPAxis::atLeft); }
  EndLabels* endLabels() const { return end_labels_; }
  void updateStepAxis();
  std::pair<std::int64_t, std::int64_t> standing() const;  // (step reached, steps planned) of the current run
  QString standingText() const;                            // "Step 1,240 of 2,000"

  GraphPool& graphs() { return graphs_; }
  void drawReference(Reference kind, double value);
  // From the parent's last evaluation at or before the fork to the fork's first; nothing for other runs, and where the
  // parent is not shown.
  void drawBranch(const RunSeries& run);
  QColor pale(const QColor& color) const;  // on the panel's ground
  // Markers at most every so many points, so that a long run is a line and not a string of beads.
  static int scatterSkip(std::size_t points) { return static_cast<int>(points / 24); }

 private:
  QCPAxisRect* rect_;
  EndLabels* end_labels_;
  QCPItemLine* hover_line_;
  GraphPool graphs_;
};

}  // namespace mambarium
