#include "ui/plots/sweep_lines.h"

#include <algorithm>
#include <cmath>

#include "ui/plots/sweep_text.h"

namespace mambarium {
namespace {

bool growsByOneFactor(const std::vector<double>& numbers) {
  if (numbers.size() < 3 || numbers.front() <= 0) return false;
  const double factor = numbers[1] / numbers[0];
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (factor <= 1 || std::abs(numbers[i] / numbers[i - 1] - factor) > 1e-9 * factor) return false;
  return true;
}

// Where every position lies, with its label as a tick.
std::vector<double> setPositions(QCPAxis* axis, const SweepSlice& slice, const Theme& theme, double room) {
  std::vector<double> keys;
  if (!slice.x() || !isContinuous(*slice.x())) {
    QStringList labels;
    for (std::size_t position = 0; position < slice.positions(); ++position) {
      labels << slice.positionLabel(position);
      keys.push_back(static_cast<double>(position));
    }
    setCategories(axis, labels, theme, room);
    return keys;
  }
  keys = slice.x()->numbers;
  const QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
  for (std::size_t position = 0; position < keys.size(); ++position)
    ticker->addTick(keys[position], slice.positionLabel(position));
  axis->setTicker(ticker);
  const auto [low, high] = std::ranges::minmax(keys);
  if (growsByOneFactor(keys)) {
    const double margin = std::pow(high / low, 0.06);
    axis->setScaleType(QCPAxis::stLogarithmic);
    axis->setRange(low / margin, high * margin);
  } else {
    axis->setRange(low - 0.06 * (high - low), high + 0.06 * (high - low));
  }
  return keys;
}

}  // namespace

void drawSweepLines(SweepCanvas& canvas, const SweepSlice& slice) {
  const Theme& theme = canvas.theme();
  SweepValueAxis values(slice);
  for (std::size_t series = 0; series < slice.series(); ++series)
    for (std::size_t position = 0; position < slice.positions(); ++position)
      values.add(slice.summary(slice.cell(series, position)));

  QCPAxisRect* rect = canvas.addRect(0);
  values.apply(rect->axis(QCPAxis::atLeft), theme, canvas.height() * usual_share);
  const std::vector<double> keys = setPositions(rect->axis(QCPAxis::atBottom), slice, theme, canvas.width());
  canvas.chart().setAxisTitles(rect, slice.x() ? QString::fromStdString(slice.x()->title) : QString(),
                               measureTitle(slice.measure(), theme, canvas.height() * sure_share));

  std::vector<LegendEntry> legend;
  int style = 0;
  for (std::size_t series = 0; series < slice.series(); ++series) {
    SweepPoints points;
    for (std::size_t position = 0; position < slice.positions(); ++position) {
      const SweepSummary& summary = slice.summary(slice.cell(series, position));
      if (summary.n == 0) continue;
      points.append(keys[position], summary, values);
      canvas.markCell(rect, keys[position], values.place(summary.mean), slice, slice.cell(series, position));
    }
    const QString name = slice.seriesName(series);
    if (slice.isReference(series)) {
      QCPGraph* line = addPoints(canvas, rect, points, style, true);
      line->setPen(theme.referencePen(Reference::add_beta));
      line->setScatterStyle(QCPScatterStyle::ssNone);
      legend.push_back({name, line->pen(), -1, {}});
      continue;
    }
    addPoints(canvas, rect, points, style, true);
    if (slice.series() > 1) legend.push_back(seriesEntry(theme, name, style, true));
    ++style;
  }
  canvas.chart().flowLegend()->setEntries(std::move(legend));
}

}  // namespace mambarium
