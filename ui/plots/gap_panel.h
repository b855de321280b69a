// GapPanel: how far each run is from the best possible predictors over training.
//
// Two gaps (shared by all runs, told apart by line width): thick, test loss minus the add-beta estimator, which goes to
// 0 when the model has learned the estimator; thin, test loss minus the oracle that knows the kernel, which cannot fall
// below the price of not knowing the kernel: that floor (add-beta minus oracle) is drawn as its own line. The axis is
// logarithmic until asked otherwise. A gap can be zero or negative (a finite test set can favour the model by chance):
// such points are drawn as hollow triangles in a shaded strip below the axis that says "<= 0", and the caption counts
// them. Key L switches between logarithmic and linear. A difference of gaps has either sign: its axis is linear, and
// the oracle is left out, since it cancels. options: {"log": bool, "oracle": bool}, and those of StepPanel.
#pragma once

#include "ui/plots/step_panel.h"

namespace mambarium {

class LogStripTicker;
class TidyTicker;

class GapPanel : public StepPanel {
  Q_OBJECT
 public:
  explicit GapPanel(QWidget* parent = nullptr);
  PanelTable table() const override;
  nlohmann::json options() const override;
  void setOptions(const nlohmann::json& options) override;

 protected:
  void draw() override;
  QString describe() const override;
  QString readout(const RunCurve& curve, std::size_t row) const override;
  double drawnValue(const MetricsRow& row) const override { return place(row.gap_add_beta); }
  void forgetRanges() override;

 private:
  bool isLog() const { return log_ && !subtracted(); }
  bool showsOracle() const { return oracle_ && !subtracted(); }
  double place(double gap) const;
  void updateGapAxis();
  void drawGap(const RunCurve& curve, double MetricsRow::*gap, bool thick);
  void drawFloors();

  bool log_ = true, oracle_ = true;
  QToolButton* log_button_;
  QToolButton* oracle_button_;
  QSharedPointer<LogStripTicker> log_ticker_;
  QSharedPointer<TidyTicker> linear_ticker_;
  QCPItemRect* strip_;
  std::optional<AxisRange> linear_range_;
  std::optional<LogRange> log_range_;
};

// "falling", "rising" or "level": the newer half of the last evaluations against the older half.
QString gapTrend(const std::vector<MetricsRow>& rows);

}  // namespace mambarium
