// DecayPanel: the decay factor aₜ of every head along a probe sequence, below the strip of its tokens. 1 keeps the
// state, 0 forgets it.
//
// Trained models keep aₜ so near to 1 that a linear axis shows a flat line at the top. The axis is therefore spaced by
// the logarithm of 1 - aₜ (what is forgotten per token) and labelled with aₜ itself: 0.9, 0.99, 0.999 are equally far
// apart, and nothing is cut off. aₜ = 1 exactly has no place on it and is drawn in a strip of its own at the top.
// Markers tell the tokens apart: hollow for token 0, filled for the last one, shades in between. The switch token of
// chains that switch has a marker of its own, a diamond, drawn however dense the tokens are.
// options: {"probe": 0-7, "scale": "log" or "linear"}
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

 private:
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
  bool log_ = true;
  QToolButton* log_button_;
  QSharedPointer<LogStripTicker> log_ticker_;
  QSharedPointer<TidyTicker> linear_ticker_;
  QCPItemRect* one_strip_;
  std::optional<LogRange> log_range_;
};

}  // namespace mambarium
