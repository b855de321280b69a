// PredictionPanel: the model's probability of the next token along a probe sequence, against the add-beta estimator's
// (what can be known) and, faint, the oracle's (what would be known with the kernel in hand).
//
// With more than two states a symbol is chosen; with two it is 1. A context may be chosen ("after 0"): only positions
// whose last tokens are that context are joined, which shows the estimate of one row of the kernel becoming sharper
// (the paper's figure 1). Contexts have the chain's order where there are at most 32 of them, else one token. options:
// {"probe": 0-7, "symbol": 0-63, "context": "" (any) or tokens, oldest first, separated by spaces}
#pragma once

#include "ui/plots/token_panel.h"

namespace mambarium {

class PredictionPanel : public TokenPanel {
  Q_OBJECT
 public:
  explicit PredictionPanel(QWidget* parent = nullptr);
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
  int shownSymbol() const;
  std::vector<std::int32_t> shownContext() const;  // empty: any
  bool isShown(int position) const;
  double probability(const Tensor& tensor, int position) const;
  void updateChoices();
  QVector<QCPGraphData> curve(const Tensor& tensor) const;

  PredictionData answer_;
  int symbol_ = 1;
  std::string context_;
  QComboBox* symbol_box_;
  QComboBox* context_box_;
};

}  // namespace mambarium
