// CellMap: a grid of coloured cells, drawn as rectangles and not as a scaled image, so that it is as sharp on paper as
// on the screen and never interpolated. Column c covers key c - 0.5 .. c + 0.5 (plus an offset), row r likewise on the
// value axis. An invalid colour leaves a cell out; of a text's lines as many are written as the cell has room for.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "ui/plots/theme.h"

namespace mambarium {

class CellMap : public QCPAbstractPlottable {
 public:
  CellMap(QCPAxis* key_axis, QCPAxis* value_axis);

  // colors: rows x columns, row-major; texts: empty, or as many. `first_key` is the key of column 0.
  void setCells(int rows, int columns, std::vector<QColor> colors, std::vector<QString> texts = {},
                double first_key = 0);
  // Cells with a frame, as many as colors; empty: none.
  void setFrames(std::vector<char> framed, const QPen& pen) {
    framed_ = std::move(framed);
    frame_pen_ = pen;
  }
  void setTextFont(const QFont& font) { font_ = font; }
  void setBackdrop(const QColor& color) { backdrop_ = color; }  // shows between cells and around them
  // Width of the line between cells that are at least six times as wide; 0: none.
  void setSeparator(double width) { separator_ = width; }

  double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }
  QCPRange getKeyRange(bool& found, QCP::SignDomain domain) const override;
  QCPRange getValueRange(bool& found, QCP::SignDomain domain, const QCPRange& keys) const override;

 protected:
  void draw(QCPPainter* painter) override;
  void drawLegendIcon(QCPPainter*, const QRectF&) const override {}

 private:
  QRectF cellRect(int row, int column) const;

  int rows_ = 0, columns_ = 0;
  double first_key_ = 0;
  double separator_ = 0;
  QFont font_;
  QColor backdrop_;
  std::vector<QColor> colors_;
  std::vector<QString> texts_;
  std::vector<char> framed_;
  QPen frame_pen_;
};

}  // namespace mambarium
