// LossPanel: train and test loss of every run, with the yardsticks they are measured by: the add-beta estimator, the
// oracle that knows the kernel, and a uniform guess. Nats per token, linear.
//
// The training loss between evaluations is noisy: it is drawn raw and pale. "Smooth" puts an exponential mean over the
// whole raw series in front of it, and leaves the raw line behind and the table alone. options: {"train": bool,
// "smooth": bool}, and those of StepPanel. Of a difference the references are left out: they cancel.
#pragma once

#include "ui/plots/step_panel.h"

namespace mambarium {

class LossPanel : public StepPanel {
  Q_OBJECT
 public:
  explicit LossPanel(QWidget* parent = nullptr);
  PanelTable table() const override;
  nlohmann::json options() const override;
  void setOptions(const nlohmann::json& options) override;

 protected:
  void draw() override;
  QString describe() const override;
  QString readout(const RunCurve& curve, std::size_t row) const override;
  double drawnValue(const MetricsRow& row) const override { return row.test_loss; }
  void forgetRanges() override { range_.reset(); }

 private:
  void drawTrain(const RunSeries& run);
  void drawTest(const RunCurve& curve);
  void drawReferences();

  bool train_ = true, smooth_ = false;
  QToolButton* train_button_;
  QToolButton* smooth_button_;
  std::optional<AxisRange> range_;
};

}  // namespace mambarium
