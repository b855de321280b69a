// StepPanel: a panel whose horizontal axis is the training step (loss, gap). It keeps the step axis, the reference
// labels, the pool of graphs, the hover line, and the two choices of several runs: each run or the mean over seeds, as
// they are or less one of them (RunCurves). Both are only there while several runs are shown. The panel itself says
// what of a curve is drawn. Its options, which a panel adds to its own: {"curves": "runs" or "means", "minus": the
// folder of a run, "" for none}.
#pragma once

#include "ui/plots/axis_range.h"
#include "ui/plots/estimator_name.h"
#include "ui/plots/graph_pool.h"
#include "ui/plots/plot_panel.h"
#include "ui/plots/run_curves.h"

namespace mambarium {

class StepPanel : public PlotPanel {
  Q_OBJECT
 protected:
  StepPanel(const QString& id, const QString& title, const QString& empty_text, QWidget* parent);

  bool prepare(const PanelChange& change) override;
  void hover(const QPointF& pixel) override;
  void leave() override;

  // The readout of one curve at one of its rows: HTML without the curve's name.
  virtual QString readout(const RunCurve& curve, std::size_t row) const = 0;
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

  const std::vector<RunCurve>& curves() const { return curves_.curves(); }
  const RunSeries* subtracted() const { return curves_.reference(); }
  bool isPlain() const { return !view_.means && !subtracted(); }
  const RunCurves::View& view() const { return view_; }
  RunCurves::View viewFrom(const nlohmann::json& options) const;  // throws as setOptions does
  void setView(const RunCurves::View& view);
  nlohmann::json withView(nlohmann::json options) const;
  std::vector<LegendEntry> curveEntries() const;  // last what is subtracted, as a line: the zero line is it
  std::vector<EndLabel> zeroLabels() const;       // of a difference's zero line, else none
  // The unit of losses is that of the current run, or of the first one where that is not shown. Where the runs differ
  // in it the axis says so, the legend names it run by run, and reference lines are only those of runs that share it.
  QString unit() const;
  bool sharesUnit(const RunSeries& run) const;
  bool unitsDiffer() const;
  QString axisTitle(const QString& quantity) const;  // with unit; says of a difference that it is one
  QString unitColumn(const char* quantity) const;    // of a table: "loss_nats_per_token"; "loss" where units differ
  // The caption of every view but the plain one: what the current run's curve has come to, by `quantity` in a sentence.
  QString describeCurve(const QString& quantity, double MetricsRow::*field) const;
  static QString valueText(const RunCurve& curve, std::size_t row, double MetricsRow::*field);  // "0.5046 ± 0.0012"
  // What the view adds to a table; a column with the unit, too, where the runs differ in it.
  void appendViewColumns(QStringList& columns) const;
  void appendView(QStringList& fields, const RunCurve& curve, double deviation) const;

  GraphPool& graphs() { return graphs_; }
  // One standard deviation around a mean, cut off at `lowest`.
  void drawBand(const RunCurve& curve, double MetricsRow::*field, double lowest);
  void drawReference(Reference kind, double value);
  // From the parent's last evaluation at or before the fork to the fork's first; nothing for other runs, and where the
  // parent is not shown or the view is of means or differences.
  void drawBranch(const RunSeries& run);
  QColor pale(const QColor& color) const;  // on the panel's ground
  // Markers at most every so many points, so that a long run is a line and not a string of beads.
  static int scatterSkip(std::size_t points) { return static_cast<int>(points / 24); }

 private:
  QCPAxisRect* rect_;
  EndLabels* end_labels_;
  QCPItemLine* hover_line_;
  GraphPool graphs_;
  void updateChoices();

  RunCurves::View view_;
  RunCurves curves_;
  QComboBox* means_box_;
  QComboBox* minus_box_;
};

}  // namespace mambarium
