// ColorScale: a narrow axis rect beside a map of cells that says which colour is which value.
#pragma once

#include <functional>

#include "ui/plots/cell_map.h"
#include "ui/plots/chart.h"

namespace mambarium {

class ColorScale {
 public:
  ColorScale(Chart* chart, int row, int column);
  QCPAxisRect* rect() const { return rect_; }
  void remove();  // from the chart; nothing may be called after
  // `color` of values from `lower` to `upper`, evenly.
  void draw(const QString& title, double lower, double upper, const std::function<QColor(double)>& color);

 private:
  Chart* chart_;
  QCPAxisRect* rect_;
  CellMap* cells_;
};

}  // namespace mambarium
