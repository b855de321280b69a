// ReconstructionPanel: Lemma 2 at work. The state h_t of one channel of a Motif-Mamba along a probe sequence, the state
// replayed from z, the inputs and the parameters alone, and how far they are apart.
//
// Two maps with one colour scale (a column per token, a row per state, blue-white-vermillion about zero) above the
// error, the largest difference of a state after each token, on a logarithmic axis; where it is exactly 0 it lies on
// the axis' lower end. Both are computed in double; the caption also says what the model's own float32 states differ
// by. options: {"probe": 0-7, "layer": 0-63, "channel": 0-65535}
#pragma once

#include "core/contract/coupling_inspection.h"
#include "ui/plots/channel_panel.h"

namespace mambarium {

class ReconstructionPanel : public ChannelPanel {
  Q_OBJECT
 public:
  explicit ReconstructionPanel(QWidget* parent = nullptr);
  PanelTable table() const override;
  nlohmann::json options() const override;
  void setOptions(const nlohmann::json& options) override;
  double largestError() const;  // of all tokens; NaN without data

 protected:
  bool prepare(const PanelChange& change) override;
  void draw() override;
  QString describe() const override;
  const std::vector<std::int32_t>& tokens() const override { return answer_.tokens; }
  QString readout(int position) const override;
  std::vector<double> drawnValues(int) const override { return {}; }

 private:
  void drawStates(const Tensor& states, CellMap* cells, QCPAxisRect* where, const QString& title);
  void drawError();
  double largestState() const;                                        // its absolute value, 0 where none is finite
  double rowHeight() const;                                           // about, of a map or the error, in pixels
  QString fitting(const QString& title, const QString& brief) const;  // beside a row
  int width() const { return static_cast<int>(answer_.state.shape[1]); }

  ReconstructionData answer_;
  QCPAxisRect *replayed_, *error_;
  CellMap *state_cells_, *replayed_cells_;
  GraphPool lines_;
};

}  // namespace mambarium
