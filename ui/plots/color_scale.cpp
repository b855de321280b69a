#include "ui/plots/color_scale.h"

#include "ui/plots/axis_ticker.h"

namespace mambarium {
namespace {

constexpr int shades = 101;

}  // namespace

ColorScale::ColorScale(Chart* chart, int row, int column)
    : chart_(chart),
      rect_(chart->addRect(row, column)),
      cells_(new CellMap(rect_->axis(QCPAxis::atBottom), rect_->axis(QCPAxis::atRight))) {}

void ColorScale::remove() {
  chart_->removePlottable(cells_);
  chart_->removeRect(rect_);
}

void ColorScale::draw(const QString& title, double lower, double upper, const std::function<QColor(double)>& color) {
  const int width = chart_->theme().px(12);
  rect_->setMinimumSize(width, 20);
  rect_->setMaximumSize(width, QWIDGETSIZE_MAX);
  QCPAxis* x = rect_->axis(QCPAxis::atBottom);
  x->setRange(-0.5, 0.5);
  x->setTicks(false);
  x->setTickLabels(false);
  x->setBasePen(Qt::NoPen);
  x->grid()->setVisible(false);
  QCPAxis* y = rect_->axis(QCPAxis::atLeft);
  y->setLabel(title);
  y->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker));
  y->setRange(lower, upper);
  y->grid()->setVisible(false);
  std::vector<QColor> colors;
  for (int i = 0; i < shades; ++i) colors.push_back(color(lower + (upper - lower) * i / (shades - 1)));
  rect_->axis(QCPAxis::atRight)->setRange(-0.5, shades - 0.5);
  cells_->setCells(shades, 1, std::move(colors));
}

}  // namespace mambarium
