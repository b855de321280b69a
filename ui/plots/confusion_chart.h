// ConfusionChart: which directions a decoder takes for which. Rows are the true ones, columns the answers; a cell's
// colour is its share of the row, which stands in it, above the count where there is room. Beside it the share of right
// answers of every run that has answered, with its 95 % interval (Decoded::interval), between guessing and the ideal
// decoder. A narrow chart names these in the legend, and has no colour scale.
#pragma once

#include <memory>

#include "ui/plots/color_scale.h"
#include "ui/plots/decoding_view.h"
#include "ui/plots/graph_pool.h"

namespace mambarium {

class ConfusionChart : public DecodingView {
 public:
  explicit ConfusionChart(Chart* chart);
  ~ConfusionChart() override;
  void draw(const DecodingPicture& picture) override;
  std::optional<DecodingReadout> read(const DecodingPicture& picture, const QPointF& pixel) override;
  void leave() override;

 private:
  enum class Room { map, map_and_strip, all };
  void build(Room room);
  void clear();
  void drawMap(const DecodingPicture& picture);
  void drawStrip(const DecodingPicture& picture);
  void drawLegend(const DecodingPicture& picture);
  double mapHeight() const;  // about, of the 13-pixel design
  bool hasTexts(std::size_t answers) const;
  void nameAnswers(QCPAxis* axis, const DecodingPicture& picture);
  std::optional<DecodingReadout> readStrip(const DecodingPicture& picture, const QPointF& pixel) const;

  Room room_ = Room::map;
  double map_width_ = 0;  // about, of the 13-pixel design
  QCPAxisRect* map_ = nullptr;
  CellMap* cells_ = nullptr;
  QCPItemRect* lit_ = nullptr;
  std::unique_ptr<ColorScale> scale_;
  QCPAxisRect* strip_ = nullptr;  // of right answers; nullptr where there is no room
  std::unique_ptr<EndLabels> strip_labels_;
  std::unique_ptr<GraphPool> strip_graphs_;
  std::unique_ptr<QCPMarginGroup> edges_;
};

}  // namespace mambarium
