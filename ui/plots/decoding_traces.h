// DecodingTraces: what was recorded along a stretch of the test part, what the model decodes there, and what the ideal
// decoder would. Outputs stand one above the other, as recorded, each with its own value axis and all with one time
// axis: as many as there is room for, or the one that is asked for. Directions stand in one plot, as categories.
//
// Windows stand side by side and what no window ends in is left out, so that pauses take no room; lines are not joined
// across one. A wide pale line is the truth, dots are windows with no neighbours.
#pragma once

#include <memory>

#include "ui/plots/decoding_view.h"
#include "ui/plots/graph_pool.h"

namespace mambarium {

class DecodingTraces : public DecodingView {
 public:
  explicit DecodingTraces(Chart* chart) : DecodingView(chart) {}
  ~DecodingTraces() override { setRows(0); }
  void draw(const DecodingPicture& picture) override;
  std::optional<DecodingReadout> read(const DecodingPicture& picture, const QPointF& pixel) override;
  void leave() override;

 private:
  struct Row {
    std::size_t output = 0;
    QCPAxisRect* rect = nullptr;
    QCPItemStraightLine* cursor = nullptr;
    std::unique_ptr<GraphPool> graphs;
    std::unique_ptr<EndLabels> name;
  };
  void setRows(std::size_t count);
  void placeWindows(const std::vector<std::int64_t>& bins);
  void drawLines(Row& row, const DecodingPicture& picture);
  QCPGraph* drawLine(Row& row, const Tensor& trace, const QPen& pen);
  void drawDots(Row& row, const Tensor& trace, const QCPScatterStyle& style);
  void drawAxes(const DecodingPicture& picture);
  void nameRows(const DecodingPicture& picture);
  void drawLegend(const DecodingPicture& picture);

  std::vector<Row> rows_;
  std::vector<double> places_;                                       // of the windows on the time axis
  std::vector<std::pair<std::size_t, std::size_t>> stretches_ = {};  // of neighbours
  std::unique_ptr<QCPMarginGroup> sides_;
};

}  // namespace mambarium
