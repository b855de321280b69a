#include "ui/plots/sweep_dots.h"

#include <cmath>

#include "ui/plots/sweep_text.h"

namespace mambarium {
namespace {

constexpr double group_width = 0.5;  // of the distance between two positions

constexpr bool sideways = true;

void addSeeds(SweepCanvas& canvas, QCPAxisRect* rect, const QVector<double>& keys, const QVector<double>& values,
              int style) {
  QCPGraph* rings = canvas.addGraph(rect, sideways);
  QColor pale = canvas.theme().runColor(style);
  pale.setAlpha(120);
  rings->setLineStyle(QCPGraph::lsNone);
  rings->setScatterStyle(scatterStyle(canvas.theme(), 0, pale, 4, true));
  rings->setData(keys, values, true);
}

}  // namespace

void drawSweepDots(SweepCanvas& canvas, const SweepSlice& slice) {
  const Theme& theme = canvas.theme();
  SweepValueAxis values(slice);
  for (std::size_t series = 0; series < slice.series(); ++series)
    for (std::size_t position = 0; position < slice.positions(); ++position) {
      values.add(slice.summary(slice.cell(series, position)));
      for (const double value : slice.values(slice.cell(series, position))) values.add(value);
    }

  QCPAxisRect* rect = canvas.addRect(0);
  values.apply(rect->axis(QCPAxis::atBottom), theme, canvas.width() * sure_share);
  QStringList names;
  for (std::size_t position = 0; position < slice.positions(); ++position) names << slice.positionLabel(position);
  setCategories(rect->axis(QCPAxis::atLeft), names, theme, canvas.height() * usual_share);
  constexpr int room_beside_names = 10;
  rect->axis(QCPAxis::atLeft)->setPadding(theme.px(room_beside_names));
  const bool has_name = slice.x() && slice.x()->name != "case";
  canvas.chart().setAxisTitles(rect, measureTitle(slice.measure(), theme, canvas.width() * sure_share),
                               has_name ? QString::fromStdString(slice.x()->title) : QString());

  std::vector<LegendEntry> legend;
  const double step = group_width / static_cast<double>(slice.series());
  for (std::size_t series = 0; series < slice.series(); ++series) {
    const int style = static_cast<int>(series);
    SweepPoints points;
    QVector<double> seed_keys, seed_values;
    for (std::size_t position = 0; position < slice.positions(); ++position) {
      const double key = static_cast<double>(position) - group_width / 2 + (static_cast<double>(series) + 0.5) * step;
      for (const double value : slice.values(slice.cell(series, position))) {
        if (std::isnan(value)) continue;
        seed_keys.append(key);
        seed_values.append(values.place(value));
      }
      const SweepSummary& summary = slice.summary(slice.cell(series, position));
      if (summary.n == 0) continue;
      points.append(key, summary, values);
      canvas.markCell(rect, values.place(summary.mean), key, slice, slice.cell(series, position));
    }
    addSeeds(canvas, rect, seed_keys, seed_values, style);
    addPoints(canvas, rect, points, style, false, sideways);
    if (slice.series() > 1) legend.push_back(seriesEntry(theme, slice.seriesName(series), style, false));
  }
  canvas.chart().flowLegend()->setEntries(std::move(legend));
}

}  // namespace mambarium
