// DecodingPanel: how good a decoder is on the test part of its recording, beside the ideal decoder where one is known.
// Of directions it shows which are taken for which (ConfusionChart), of outputs their course (DecodingTraces) or R^2 of
// each (DecodingScores); a stretch of directions can be followed over time too.
//
// The model is asked about the current run only; other shown runs whose answers are of the same kind stand beside it
// with what they gave while they were current (PanelData::others). A run that decodes nothing gets a sentence.
// options: {"directions": "confusion" or "traces", "outputs": "traces" or "r_squared",
//           "output": 0 for all that have room, 1-1024 for one of them}
#pragma once

#include <memory>

#include "ui/plots/decoding_view.h"
#include "ui/plots/plot_panel.h"

namespace mambarium {

class DecodingPanel : public PlotPanel {
  Q_OBJECT
 public:
  explicit DecodingPanel(QWidget* parent = nullptr);
  std::optional<InspectRequest> wants() const override;
  PanelTable table() const override;
  nlohmann::json options() const override;
  void setOptions(const nlohmann::json& options) override;

 protected:
  bool prepare(const PanelChange& change) override;
  void draw() override;
  QString describe() const override;
  void hover(const QPointF& pixel) override;
  void leave() override;

 private:
  enum class View { confusion, traces, scores };
  View view() const;
  std::vector<View> views() const;  // of what the current run decodes, in the order of the choice
  void choose(View view);
  const DecodingData& answer() const { return picture_.current.answer; }
  bool decodes() const { return answer().windows > 0 && picture_.answers() > 0; }
  void readPicture();
  void updateChoices();

  // decoding_panel_text.cpp
  QString describeDirections() const;
  QString describeOutputs() const;
  PanelTable confusionTable() const;
  PanelTable tracesTable() const;
  PanelTable scoresTable() const;

  DecodingPicture picture_;
  View of_directions_ = View::confusion, of_outputs_ = View::traces;
  std::int64_t output_ = 0;  // as in the options
  QComboBox *view_box_, *output_box_;
  std::optional<View> drawn_;  // what chart_view_ is
  std::unique_ptr<DecodingView> chart_view_;
};

}  // namespace mambarium
