// SweepPanel: a sweep as a heat map, lines, dots, training curves or small multiples, with the choice of the measure
// and of what lies along x.
//
// Its data is PanelData::sweep. Choices that nobody made follow from the axes (sweep_slice.h), so options may be {}.
// options(): "chart", "measure", "x", "by", "reference" (texts, "" for automatic) and "log". A choice that the sweep
// does not have is said instead of the plot. Curves need SweepData::curves: needsCurves() says that they are missing.
#pragma once

#include "ui/plots/plot_panel.h"
#include "ui/plots/sweep_canvas.h"

namespace mambarium {

class SweepPanel : public PlotPanel {
  Q_OBJECT
 public:
  explicit SweepPanel(QWidget* parent = nullptr);

  nlohmann::json options() const override;
  void setOptions(const nlohmann::json& options) override;
  PanelTable table() const override;
  bool needsCurves() const;

 protected:
  bool prepare(const PanelChange& change) override;
  void draw() override;
  QString describe() const override;
  void hover(const QPointF& pixel) override;
  QString emptyText() const override;

 private:
  void fillChoices();
  void choose(std::string SweepChoice::*member, const QComboBox* box);

  SweepChoice choice_;
  std::optional<SweepSlice> slice_;
  SweepCanvas canvas_;
  QComboBox* chart_box_;
  QComboBox* measure_box_;
  QComboBox* x_box_;
  QComboBox* by_box_;
  QToolButton* log_button_;
};

}  // namespace mambarium
