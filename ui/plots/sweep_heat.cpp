#include "ui/plots/sweep_heat.h"

#include <cmath>

#include "ui/plots/cell_map.h"
#include "ui/plots/color_scale.h"
#include "ui/plots/sweep_text.h"

namespace mambarium {
namespace {

// Where a value lies between the ends of the colour scale, in [0, 1]; NaN stays NaN.
double shareOf(const QCPAxis* scale, double value) {
  const QCPRange range = scale->range();
  if (scale->scaleType() == QCPAxis::stLogarithmic)
    return std::log(value / range.lower) / std::log(range.upper / range.lower);
  return (value - range.lower) / range.size();
}

QCPAxis* drawScale(SweepCanvas& canvas, const SweepSlice& slice, const SweepValueAxis& values) {
  const Theme& theme = canvas.theme();
  ColorScale scale(&canvas.chart(), 0, 1);
  canvas.adopt(scale.rect());
  const double room = canvas.height() * usual_share;
  scale.draw(measureTitle(slice.measure(), theme, room), 0, 1, [&](double share) { return theme.sequential(share); });
  QCPAxis* axis = scale.rect()->axis(QCPAxis::atLeft);
  values.apply(axis, theme, room);
  axis->grid()->setVisible(false);
  return axis;
}

}  // namespace

void drawSweepHeat(SweepCanvas& canvas, const SweepSlice& slice) {
  const Theme& theme = canvas.theme();
  const auto columns = slice.positions(), rows = slice.series();
  SweepValueAxis values(slice);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) values.add(slice.summary(slice.cell(row, column)).mean);

  QCPAxisRect* rect = canvas.addRect(0, 0);
  const QCPAxis* scale = drawScale(canvas, slice, values);
  for (QCPAxisRect* beside : canvas.chart().axisRects())
    beside->setMarginGroup(QCP::msTop | QCP::msBottom, canvas.edges());

  QStringList names, sides;
  std::vector<QColor> colors;
  std::vector<QString> texts;
  for (std::size_t column = 0; column < columns; ++column) names << slice.positionLabel(column);
  for (std::size_t row = 0; row < rows; ++row) {
    sides << slice.seriesLabel(row);
    for (std::size_t column = 0; column < columns; ++column) {
      const SweepSummary& summary = slice.summary(slice.cell(row, column));
      colors.push_back(theme.sequential(shareOf(scale, values.place(summary.mean))));
      texts.push_back(measureText(slice.measure(), summary.mean) + u'\n' + halfIntervalText(slice.measure(), summary));
      canvas.markCell(rect, static_cast<double>(column), static_cast<double>(row), slice, slice.cell(row, column));
    }
  }
  QCPAxis* x = rect->axis(QCPAxis::atBottom);
  QCPAxis* y = rect->axis(QCPAxis::atLeft);
  setCategories(x, names, theme, canvas.width() * usual_share);
  setCategories(y, sides, theme, canvas.height() * usual_share);
  canvas.chart().setAxisTitles(rect, slice.x() ? QString::fromStdString(slice.x()->title) : QString(),
                               slice.seriesTitle());
  auto* cells = new CellMap(x, y);
  cells->setBackdrop(theme.grid());
  cells->setSeparator(theme.scale());
  cells->setTextFont(theme.smallFont());
  cells->setCells(static_cast<int>(rows), static_cast<int>(columns), std::move(colors), std::move(texts));
}

}  // namespace mambarium
