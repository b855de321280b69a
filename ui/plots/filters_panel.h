// FiltersPanel: the taps of the short causal convolution, per channel, for each of x, B and C (in a transformer Q, K
// and V) that has one.
//
// As a map: a cell per channel and lag, blue-white-vermillion about zero, one colour scale for all three so that they
// compare. As stems: a stem per channel, grouped by lag. Lag 0 is the current token, -1 the one before it; the bias
// stands apart on the right. A slider goes through the checkpoints; its right end is the model as it is now. options:
// {"view": "map" or "stems", "layer": 0-63}
#pragma once

#include "ui/plots/axis_range.h"
#include "ui/plots/cell_map.h"
#include "ui/plots/plot_panel.h"

class QSlider;

namespace mambarium {

class FiltersPanel : public PlotPanel {
  Q_OBJECT
 public:
  explicit FiltersPanel(QWidget* parent = nullptr);
  std::optional<InspectRequest> wants() const override;
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
  std::vector<Segment> segments() const;  // of the shown layer; only those with channels
  int shownLayer() const;
  double largestTap() const;
  static QString lagText(int lag);

  void rebuild(int count);  // axis rects for so many segments, and the colour scale
  void drawMap(const Segment& segment, QCPAxisRect* rect);
  void drawStems(const Segment& segment, QCPAxisRect* rect);
  void drawScale();
  void updateLayerChoice();
  void updateSlider();
  void sliderMoved(int index);

  FilterData answer_;
  bool stems_ = false;
  int layer_ = 0;
  std::vector<std::int64_t> checkpoints_;
  std::optional<std::int64_t> checkpoint_;
  std::optional<AxisRange> value_range_;

  QToolButton* stems_button_;
  QComboBox* layer_box_;
  QSlider* slider_;
  QLabel* slider_label_;
  std::vector<QCPAxisRect*> rects_;
  QCPAxisRect* scale_rect_ = nullptr;
  bool built_stems_ = false;
};

}  // namespace mambarium
