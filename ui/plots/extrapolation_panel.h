// ExtrapolationPanel: how far an induction head reaches beyond the lengths it was trained on. The share of right
// answers against the length of the sequence (a tick for every doubling), with the 95 % interval as a band; the dashed
// line is guessing, the vertical one the trained length.
//
// The model is asked about the current run only; every other shown run keeps the curve it gave while it was current
// (PanelData::others), each at its own step, and runs that never were have none. A question reads some 90,000 tokens,
// of lengths up to 4,096, so while a run trains the feed lets it rest between two of them (PanelFeed); the caption says
// how longer ones are asked for. It has no options.
#pragma once

#include <optional>

#include "core/contract/coupling_inspection.h"
#include "ui/plots/graph_pool.h"
#include "ui/plots/plot_panel.h"

namespace mambarium {

class ExtrapolationPanel : public PlotPanel {
  Q_OBJECT
 public:
  explicit ExtrapolationPanel(QWidget* parent = nullptr);
  std::optional<InspectRequest> wants() const override;
  PanelTable table() const override;

 protected:
  bool prepare(const PanelChange& change) override;
  void draw() override;
  QString describe() const override;
  void hover(const QPointF& pixel) override;

 private:
  struct Curve {
    std::size_t run = 0;  // index in data().runs
    ExtrapolationData answer;
  };
  const RunSeries& runOf(const Curve& curve) const { return data().runs[curve.run]; }
  const Curve* currentCurve() const;  // nullptr when it has none
  void readCurves();
  void drawCurve(const Curve& curve);
  void drawReferences();
  void drawLengthAxis();
  // Where a label over these keys of the length axis is farthest from curves and guessing: 0 at the top, 1 at the foot.
  double freeHeight(double from, double to, double chance) const;
  QCPAxis* xAxis() const { return rect_->axis(QCPAxis::atBottom); }
  QCPAxis* yAxis() const { return rect_->axis(QCPAxis::atLeft); }

  std::vector<Curve> curves_;  // in the order of the runs
  QCPAxisRect* rect_;
  EndLabels* end_labels_;
  QCPItemText* trained_label_;
  GraphPool graphs_;
};

}  // namespace mambarium
