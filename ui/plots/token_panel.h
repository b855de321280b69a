// TokenPanel: a panel along a probe sequence (prediction, decay): a strip of tokens above a curve over the position t.
// The sequence of a decoder is a window of its recording, and its tokens are the window's bins.
//
// Positions are 0-based in the program (tokenHovered, highlightToken, the tensors) and 1-based where a person reads
// them, as x_1 .. x_T in the paper. The token under the mouse is marked in strip and curve on the highlight layer.
// A panel may have views that are not along the sequence: it then says what of strip and curve there is to point at.
#pragma once

#include "core/contract/coupling_inspection.h"
#include "ui/plots/axis_range.h"
#include "ui/plots/cell_map.h"
#include "ui/plots/graph_pool.h"
#include "ui/plots/plot_panel.h"

namespace mambarium {

class TidyTicker;

class TokenPanel : public PlotPanel {
  Q_OBJECT
 public:
  std::optional<InspectRequest> wants() const override;
  void highlightToken(int position) override;
  void setProbe(std::int64_t probe) override;
  int highlightedToken() const { return highlighted_; }

 protected:
  TokenPanel(const QString& id, const QString& title, const QString& empty_text, QWidget* parent);

  void hover(const QPointF& pixel) override;
  void leave() override;

  virtual const std::vector<std::int32_t>& tokens() const = 0;
  virtual int states() const = 0;
  virtual QString readout(int position) const = 0;                  // HTML lines below "t = 12, token 1"
  virtual std::vector<double> drawnValues(int position) const = 0;  // where the curves are, on the value axis

  // Which window the sequence is; nothing, as at first, for a sequence of tokens.
  void setWindow(const std::optional<ProbeWindow>& window) { window_ = window; }
  QString windowText() const;  // a sentence for the caption, with the space before it; "" without a window
  QString placeText(std::int64_t position) const;  // "token 5", or "bin 104" of the recording
  QString positionTitle() const;                   // of the axis along the sequence

  void drawTokens();  // the strip and the position axis
  // Whether the strip is there, and whether the main axes are along positions; if not, they are the panel's to set.
  void setAlongTokens(bool strip, bool positions);
  std::optional<std::int32_t> switchToken() const;  // of the current run's task
  // The legend's entry for it; nothing where no switch is shown.
  std::optional<LegendEntry> switchEntry(int marker) const;
  std::int64_t probe() const { return probe_; }
  void chooseProbe(std::int64_t probe);                         // as setProbe, and tells the others
  std::int64_t probeFrom(const nlohmann::json& options) const;  // throws as setOptions does
  nlohmann::json withProbe(nlohmann::json options) const;
  QCPAxisRect* addAligned(int row);  // more axes along the positions, below the main ones (row 2 on)
  QCPAxisRect* rect() const { return rect_; }
  QCPAxis* xAxis() const { return rect_->axis(QCPAxis::atBottom); }
  QCPAxis* yAxis() const { return rect_->axis(QCPAxis::atLeft); }
  GraphPool& graphs() { return graphs_; }

 private:
  QString labelText() const;  // of the window: what is decoded there
  QCPItemRect* makeBand(QCPAxisRect* rect);
  void updateBands();

  QCPAxisRect* strip_;
  QCPAxisRect* rect_;
  CellMap* cells_;
  std::vector<QCPAxisRect*> aligned_;
  std::vector<QCPItemRect*> bands_;  // of strip_, rect_, and those of aligned_
  QCPMarginGroup* sides_;
  QSharedPointer<TidyTicker> position_ticker_;
  bool strip_shown_ = true, along_positions_ = true;
  QComboBox* probe_box_;
  std::int64_t probe_ = 0;
  std::optional<ProbeWindow> window_;
  int highlighted_ = -1;
  int announced_ = -1;
  GraphPool graphs_;
};

}  // namespace mambarium
