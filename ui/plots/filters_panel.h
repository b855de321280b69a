// FiltersPanel: the taps of the short causal convolution, per channel, for each of x, B and C (in a transformer Q, K
// and V) that has one.
//
// As a map: a cell per channel and lag, blue-white-vermillion about zero, one colour scale for all three so that they
// compare. As stems: a stem per channel, grouped by lag. Lag 0 is the current token, -1 the one before it; the bias
// stands apart on the right. A slider goes through the checkpoints; its right end is the model as it is now. Over
// training: every tap as a line over the steps at which it is known, which are those of the run's checkpoints and those
// that have been looked at while it trained (PanelData::earlier), marked by dots; lines between are to guide the eye.
// Colour tells the lag. options: {"view": "map", "stems" or "training", "layer": 0-63}
#pragma once

#include "ui/plots/axis_range.h"
#include "ui/plots/color_scale.h"
#include "ui/plots/plot_panel.h"

class QSlider;

namespace mambarium {

class FiltersPanel : public PlotPanel {
  Q_OBJECT
 public:
  explicit FiltersPanel(QWidget* parent = nullptr);
  std::optional<InspectRequest> wants() const override;
  bool wantsEarlier() const override { return view_ == View::training; }
  PanelTable table() const override;
  nlohmann::json options() const override;
  void setOptions(const nlohmann::json& options) override;
  void setCheckpoints(const std::vector<std::int64_t>& steps) override;
  void setCheckpoint(std::optional<std::int64_t> step) override;

 protected:
  bool prepare(const PanelChange& change) override;
  void draw() override;
  QString describe() const override;
  QString emptyText() const override;
  void hover(const QPointF& pixel) override;

 private:
  struct Segment {
    QString name;  // "x", "B", "C", "Q", "K", "V"
    const Tensor* taps;
    const Tensor* bias;
    int channels() const { return static_cast<int>(taps->shape[0]); }
    int width() const { return static_cast<int>(taps->shape[1]); }
    float tap(int channel, int index) const { return taps->data[static_cast<std::size_t>(channel * width() + index)]; }
    bool hasBias() const { return !bias->data.empty(); }
  };
  enum class View { map, stems, training };
  std::vector<Segment> segments(const FilterData& answer) const;  // of the shown layer; only those with channels
  int shownLayer() const;
  double largestTap() const;
  static QString lagText(int lag);

  void rebuild(int count);  // axis rects for so many segments, and the colour scale
  void drawMap(const Segment& segment, QCPAxisRect* rect);
  void drawStems(const Segment& segment, QCPAxisRect* rect);
  void setLagAxis(const Segment& segment, QCPAxis* x) const;
  void setTapAxis(QCPAxis* y) const;
  QCPGraph* addGraph(QCPAxisRect* rect);
  void forgetDrawing();

  // filters_panel_training.cpp
  void drawTraining(std::size_t segment);
  void hoverTraining(const QPointF& pixel);
  QString describeTraining() const;
  PanelTable trainingTable() const;
  void updateSlider();
  void sliderMoved(int index);

  FilterData answer_;
  std::vector<FilterData> history_;  // by step, answer_ among them
  View view_ = View::map;
  int layer_ = 0;
  std::vector<std::int64_t> checkpoints_;
  std::optional<std::int64_t> checkpoint_;  // at which the slider stands
  std::optional<AxisRange> value_range_;

  QComboBox* view_box_;
  QComboBox* layer_box_;
  QSlider* slider_;
  QLabel* slider_label_;
  std::vector<QCPAxisRect*> rects_;
  std::optional<ColorScale> scale_;
  std::vector<QCPAbstractPlottable*> drawn_;
};

}  // namespace mambarium
