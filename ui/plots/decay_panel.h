// DecayPanel: the decay factor aₜ of every head along a probe sequence, below the strip of its tokens. 1 keeps the
// state, 0 forgets it.
//
// Trained models keep aₜ so near to 1 that a linear axis shows a flat line at the top. The axis is therefore spaced by
// the logarithm of 1 - aₜ (what is forgotten per token) and labelled with aₜ itself: 0.9, 0.99, 0.999 are equally far
// apart, and nothing is cut off. aₜ = 1 exactly has no place on it and is drawn in a strip of its own at the top.
// Markers tell the tokens apart: hollow for token 0, filled for the last one, shades in between. The switch token of
// chains that switch has a marker of its own, a diamond, drawn however dense the tokens are.
//
// Three views. The factor along the sequence; the same curve read as the effective count horizon 1 / (1 - a_t), over
// how many tokens a count is kept, always logarithmic; and a histogram of a_t, at switch tokens and elsewhere, each as
// shares of its own tokens. options: {"probe": 0-7, "view": "factor", "horizon" or "histogram", "scale": "log" or
// "linear"}
#pragma once

#include "ui/plots/token_panel.h"

namespace mambarium {

class LogStripTicker;
class TidyTicker;

class DecayPanel : public TokenPanel {
  Q_OBJECT
 public:
  explicit DecayPanel(QWidget* parent = nullptr);
  PanelTable table() const override;
  nlohmann::json options() const override;
  void setOptions(const nlohmann::json& options) override;

 protected:
  bool prepare(const PanelChange& change) override;
  void draw() override;
  QString describe() const override;
  const std::vector<std::int32_t>& tokens() const override { return answer_.tokens; }
  int states() const override;
  QString readout(int position) const override;
  std::vector<double> drawnValues(int position) const override;
  void hover(const QPointF& pixel) override;

 private:
  enum class View { factor, horizon, histogram };
  // The tokens of one kind: their factors of one head that are numbers.
  struct Part {
    int layer, head;
    bool at_switches;
    std::vector<float> factors;
  };
  std::vector<Part> parts() const;  // of every head: elsewhere (or all tokens), then at switches where there are any
  QString partName(const Part& part) const;
  QPen partPen(const Part& part) const;
  bool isLog() const { return log_ || view_ == View::horizon; }
  std::vector<double> binEdges() const;
  std::vector<double> keysOf(const Part& part) const;
  void drawHistogram();
  void setUpDecayAxis(QCPAxis* axis);
  std::vector<float> finiteFactors() const;  // of all heads; those of a model that diverged are not numbers
  // A view in words, without the full stop.
  QString describeFactors(const std::vector<float>& factors) const;
  QString describeHorizon(const std::vector<float>& factors) const;
  QString describeHistogram() const;
  PanelTable histogramTable() const;

  int layers() const { return static_cast<int>(answer_.decay.shape[0]); }
  int heads() const { return static_cast<int>(answer_.decay.shape[1]); }
  struct Means {
    double at_switches = 0, elsewhere = 0;  // NaN where there is none
  };
  Means means(int layer, int head) const;  // -1: over all
  float factor(int layer, int head, int position) const;
  double drawn(float a) const;  // on the value axis
  QString lineName(int layer, int head) const;
  int paletteOf(int layer, int head) const;
  double markerSize() const;  // in the 13-pixel design; 0: tokens are too dense for markers
  void updateDecayAxis();
  QString switchSentence() const;
  void drawLine(int layer, int head);

  DecayData answer_;
  View view_ = View::factor;
  bool log_ = true;
  QComboBox* view_box_;
  QToolButton* log_button_;
  QSharedPointer<LogStripTicker> log_ticker_, horizon_ticker_;
  QSharedPointer<TidyTicker> linear_ticker_;
  QCPItemRect* one_strip_;
  std::optional<LogRange> log_range_;
};

}  // namespace mambarium
