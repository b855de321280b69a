// PredictionPanel: the model's probability of the next token along a probe sequence, against the best predictor's (what
// can be known) and, faint, the oracle's (what would be known with the kernel in hand).
//
// Three views. Along the sequence: one symbol's probability over positions; a context may be chosen ("after 0"), then
// only positions whose last tokens are that context are joined. At a position: the three distributions over all symbols
// after one prefix; a slider, the arrow keys on it, or a click on the token strip choose the position. By context: a
// tile for every context of the chain's order that occurs (the sixteen most frequent where there are more): the
// symbol's probability over the context's occurrences, the estimate of one row of the kernel becoming sharper (figure
// 1a of the paper). With more than two states a symbol is chosen; with two it is 1. The list of contexts has the
// chain's order where there are at most 32 of them, else one token; a chosen one that is not in it is kept and counts
// as any. A low panel has no room for the list until something is chosen in it. options: {"probe": 0-7, "view":
// "sequence", "position" or "contexts", "symbol": 0-63, "context": "" (any) or tokens, oldest first, separated by
// spaces, "position": 1 or more}
#pragma once

#include "ui/plots/tile_grid.h"
#include "ui/plots/token_panel.h"

class QSlider;

namespace mambarium {

class PredictionPanel : public TokenPanel {
  Q_OBJECT
 public:
  explicit PredictionPanel(QWidget* parent = nullptr);
  PanelTable table() const override;
  nlohmann::json options() const override;
  void setOptions(const nlohmann::json& options) override;
  void highlightToken(int position) override;  // none: the position that is shown, in its view

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool prepare(const PanelChange& change) override;
  void draw() override;
  QString describe() const override;
  const std::vector<std::int32_t>& tokens() const override { return answer_.tokens; }
  int states() const override;
  QString readout(int position) const override;
  std::vector<double> drawnValues(int position) const override;
  void hover(const QPointF& pixel) override;

 private:
  enum class View { sequence, position, contexts };
  struct Occurrences {
    QString context;             // "0 1"
    std::vector<int> positions;  // after which the context's last token stands
    double difference = 0;       // of model and best predictor, on average over them
  };
  struct Look {
    QPen model, estimator, oracle;
    int marker = 0;
    QColor color;
    QString name;
  };
  Look look() const;
  int shownSymbol() const;
  int contextLength() const;                       // of the listed contexts
  std::vector<std::int32_t> shownContext() const;  // empty: any, as for one that is not listed
  bool isShown(int position) const;
  double probability(const Tensor& tensor, int position) const;
  double probability(const Tensor& tensor, int position, int symbol) const;
  QString describeSequence() const;
  void updateChoices();
  void drawSequence();

  // prediction_panel_views.cpp
  int shownPosition() const;  // 0-based
  void choosePosition(int position);
  void updateSlider();
  std::vector<Occurrences> occurrences() const;
  void drawPosition();
  void drawContexts();
  QString describePosition() const;
  QString describeContexts() const;
  PanelTable positionTable() const;
  PanelTable contextsTable() const;
  void hoverBars(const QPointF& pixel);
  void hoverTile(int tile, const QPointF& pixel);
  QVector<QCPGraphData> curve(const Tensor& tensor) const;

  PredictionData answer_;
  View view_ = View::sequence;
  int symbol_ = 1;
  std::string context_;
  int position_ = 0;
  TileGrid tiles_;
  std::vector<QCPBars*> bars_;  // model, best predictor, oracle
  QComboBox* view_box_;
  QComboBox* symbol_box_;
  QComboBox* context_box_;
  QLabel* position_label_;
  QSlider* position_slider_;
};

}  // namespace mambarium
