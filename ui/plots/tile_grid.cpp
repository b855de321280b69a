#include "ui/plots/tile_grid.h"

#include <cmath>

#include "ui/plots/axis_ticker.h"

namespace mambarium {

int TileGrid::columns() const {
  return count() <= 3 ? std::max(count(), 1) : static_cast<int>(std::ceil(std::sqrt(count())));
}

void TileGrid::setCount(int wanted) {
  if (wanted == count()) return;
  for (const Tile& tile : tiles_) {
    tile.graphs->clear();
    chart_->removeRect(tile.rect);
  }
  tiles_.clear();
  chart_->plotLayout()->simplify();
  tiles_.resize(static_cast<std::size_t>(wanted));
  rows_.clear();
  sides_.clear();
  for (int i = 0; i < wanted; ++i) {
    Tile& tile = tiles_[static_cast<std::size_t>(i)];
    tile.rect = chart_->addRect(first_row_ + i / columns(), i % columns());
    tile.rect->setMinimumSize(20, 12);
    const auto row = static_cast<std::size_t>(i / columns()), column = static_cast<std::size_t>(i % columns());
    if (row == rows_.size()) rows_.push_back(std::make_unique<QCPMarginGroup>(chart_));
    if (column == sides_.size()) sides_.push_back(std::make_unique<QCPMarginGroup>(chart_));
    tile.rect->setMarginGroup(QCP::msTop | QCP::msBottom, rows_[row].get());
    tile.rect->setMarginGroup(QCP::msLeft | QCP::msRight, sides_[column].get());
    tile.graphs = std::make_unique<GraphPool>(tile.rect->axis(QCPAxis::atBottom), tile.rect->axis(QCPAxis::atLeft));
    const QSharedPointer<TidyTicker> along(new TidyTicker(true));
    along->fitTo(tile.rect->axis(QCPAxis::atBottom));
    tile.rect->axis(QCPAxis::atBottom)->setTicker(along);
    tile.rect->axis(QCPAxis::atLeft)->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker));
  }
}

void TileGrid::setHeading(int tile, const QString& text) {
  chart_->setHeading(rect(tile), text);
}

void TileGrid::setAxes(const AxisRange& x, const QString& x_title, const AxisRange& y, const QString& y_title) {
  const int rows = (count() + columns() - 1) / columns();
  for (int i = 0; i < count(); ++i) {
    const int row = i / columns(), column = i % columns();
    const bool lowest = i + columns() >= count(), first = column == 0;
    QCPAxis* bottom = rect(i)->axis(QCPAxis::atBottom);
    QCPAxis* left = rect(i)->axis(QCPAxis::atLeft);
    bottom->setRange(x.lower, x.upper);
    left->setRange(y.lower, y.upper);
    bottom->setTickLabels(lowest);
    left->setTickLabels(first);
    left->ticker()->setTickCount(rows > 2 ? 2 : 5);
    bottom->ticker()->setTickCount(columns() > 2 ? 3 : 5);
    chart_->setAxisTitles(rect(i), lowest && column == columns() / 2 ? x_title : QString(),
                          first && row == rows / 2 ? y_title : QString());
  }
}

std::optional<int> TileGrid::tileAt(const QPointF& pixel) const {
  for (int i = 0; i < count(); ++i)
    if (rect(i)->rect().contains(pixel.toPoint())) return i;
  return std::nullopt;
}

}  // namespace mambarium
