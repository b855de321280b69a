// TileGrid: small multiples. A grid of axis rects with headings in a chart, all with the same ranges; tick labels stand
// at the left column and the lowest row only, titles once. Tiles fill rows from the left.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ui/plots/axis_range.h"
#include "ui/plots/chart.h"
#include "ui/plots/graph_pool.h"

namespace mambarium {

class TileGrid {
 public:
  TileGrid(Chart* chart, int first_row) : chart_(chart), first_row_(first_row) {}

  void setCount(int count);  // makes or removes tiles, with what was drawn on them
  int count() const { return static_cast<int>(tiles_.size()); }
  void setHeading(int tile, const QString& text);
  void setAxes(const AxisRange& x, const QString& x_title, const AxisRange& y, const QString& y_title);
  QCPAxisRect* rect(int tile) const { return tiles_[static_cast<std::size_t>(tile)].rect; }
  GraphPool& graphs(int tile) { return *tiles_[static_cast<std::size_t>(tile)].graphs; }
  std::optional<int> tileAt(const QPointF& pixel) const;

 private:
  struct Tile {
    QCPAxisRect* rect;
    std::unique_ptr<GraphPool> graphs;
  };
  int columns() const;

  Chart* chart_;
  int first_row_;
  std::vector<Tile> tiles_;
  std::vector<std::unique_ptr<QCPMarginGroup>> rows_, sides_;  // tiles of a row, of a column, line up
};

}  // namespace mambarium
