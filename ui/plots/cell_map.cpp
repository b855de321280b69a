#include "ui/plots/cell_map.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

namespace mambarium {
namespace {

// The first lines of a text, as many as there is room for.
QString fittingLines(const QString& text, const QFontMetricsF& metrics, const QSizeF& room) {
  QStringList fitting;
  for (const QString& line : text.split(u'\n')) {
    const double height = static_cast<double>(fitting.size()) * metrics.lineSpacing() + metrics.ascent() * 0.8;
    if (metrics.horizontalAdvance(line) + 2 > room.width() || height > room.height()) break;
    fitting << line;
  }
  return fitting.join(u'\n');
}

}  // namespace

CellMap::CellMap(QCPAxis* key_axis, QCPAxis* value_axis) : QCPAbstractPlottable(key_axis, value_axis) {
  setSelectable(QCP::stNone);
}

void CellMap::setCells(int rows, int columns, std::vector<QColor> colors, std::vector<QString> texts,
                       double first_key) {
  rows_ = rows;
  columns_ = columns;
  colors_ = std::move(colors);
  texts_ = std::move(texts);
  first_key_ = first_key;
}

QCPRange CellMap::getKeyRange(bool& found, QCP::SignDomain) const {
  found = columns_ > 0;
  return {first_key_ - 0.5, first_key_ + columns_ - 0.5};
}

QCPRange CellMap::getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const {
  found = rows_ > 0;
  return {-0.5, rows_ - 0.5};
}

QRectF CellMap::cellRect(int row, int column) const {
  const double key = first_key_ + column;
  return QRectF(coordsToPixels(key - 0.5, row - 0.5), coordsToPixels(key + 0.5, row + 0.5)).normalized();
}

void CellMap::draw(QCPPainter* painter) {
  if (rows_ == 0 || columns_ == 0) return;
  const QRectF first = cellRect(0, 0);
  const double smallest = std::min(first.width(), first.height());
  const double gap = smallest >= 6 * separator_ ? separator_ : 0;
  const QFontMetricsF metrics(font_);
  const QRect visible = clipRect().adjusted(-1, -1, 1, 1);

  painter->setAntialiasing(false);
  if (backdrop_.isValid() && gap > 0) {
    const QRectF last = cellRect(rows_ - 1, columns_ - 1);
    painter->fillRect(first.united(last).toAlignedRect().adjusted(-1, -1, 0, 0), backdrop_);
  }
  painter->setFont(font_);
  for (int row = 0; row < rows_; ++row)
    for (int column = 0; column < columns_; ++column) {
      const auto index = static_cast<std::size_t>(row * columns_ + column);
      const QColor& color = colors_[index];
      if (!color.isValid()) continue;
      const QRectF cell = cellRect(row, column);
      if (!cell.intersects(visible)) continue;
      // Whole pixels: neighbours share an edge exactly, so no seam shows between them.
      const double left = std::round(cell.left()), top = std::round(cell.top());
      const QRectF filled(left, top, std::max(1.0, std::round(cell.right()) - left - gap),
                          std::max(1.0, std::round(cell.bottom()) - top - gap));
      painter->fillRect(filled, color);
      if (index < framed_.size() && framed_[index]) {
        const double inset = frame_pen_.widthF() * 1.5;  // some of the cell shows around it, on any ground
        painter->setPen(frame_pen_);
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(filled.adjusted(inset, inset, -inset, -inset));
      }
      if (index >= texts_.size() || texts_[index].isEmpty()) continue;
      const QString text = fittingLines(texts_[index], metrics, filled.size());
      if (text.isEmpty()) continue;
      painter->setPen(Theme::textOn(color));
      painter->drawText(filled, Qt::AlignCenter, text);
    }
}

}  // namespace mambarium
