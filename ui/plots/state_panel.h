// StatePanel: does the state count? The recurrent state H_t of one head along a probe sequence, above the transition
// counts n_ij that the best predictor keeps and what a linear map reads of them out of H_t.
//
// The state is a map: a column per token, a row per number, channel by channel, blue-white-vermillion about zero. With
// more than 48 numbers the 48 that vary most along the sequence are drawn; the table has them all. The counts are lines
// (a wide pale one for the true count, a thin one for the read-out; the eight transitions seen most) or two maps with
// one colour scale. Where chains switch the counts begin anew at the switch token. The read-out and its R^2 come with
// the answer (StateData); whether the state counts is a matter of the share of what token frequencies alone leave open.
// options: {"probe": 0-7, "view": "lines" or "maps", "layer": 0-63, "head": 0-4095}
#pragma once

#include "ui/plots/token_panel.h"

namespace mambarium {

class StatePanel : public TokenPanel {
  Q_OBJECT
 public:
  explicit StatePanel(QWidget* parent = nullptr);
  std::optional<InspectRequest> wants() const override;
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
  std::vector<double> drawnValues(int) const override { return {}; }

 private:
  int length() const { return static_cast<int>(answer_.tokens.size()); }
  int numbers() const { return static_cast<int>(answer_.state.shape[1] * answer_.state.shape[2]); }
  int pairs() const { return static_cast<int>(answer_.counts.shape[1] * answer_.counts.shape[2]); }
  float number(int position, int index) const;
  float count(const Tensor& tensor, int position, int pair) const;
  QString numberName(int index) const;  // "channel 3, index 5"
  QString pairName(int pair) const;     // "0 1 → 1"
  std::vector<int> shownNumbers() const;
  std::vector<int> shownPairs() const;
  void updateChoices();
  void drawState();
  void drawLines();
  void drawMaps();
  void drawCountMap(const Tensor& tensor, CellMap* cells, QCPAxisRect* rect, const QString& title);

  StateData answer_;
  bool maps_ = false;
  std::int64_t layer_ = 0, head_ = 0;
  QComboBox *view_box_, *layer_box_, *head_box_;
  QCPAxisRect *counts_, *read_;
  CellMap *state_cells_, *count_cells_, *read_cells_;
  GraphPool lines_;
};

}  // namespace mambarium
