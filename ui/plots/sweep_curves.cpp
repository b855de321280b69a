#include "ui/plots/sweep_curves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "core/contract/text.h"
#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"
#include "ui/plots/sweep_text.h"

namespace mambarium {
namespace {

struct Curve {
  std::size_t cell;
  std::vector<std::pair<std::int64_t, SweepSummary>> steps;
};

// Steps that every run of the cell has: a mean over fewer would jump where one run ends.
Curve curveOfCell(const SweepData& data, const SweepSlice& slice, std::size_t cell) {
  double MetricsRow::*const column = curveOf(slice.measure());
  std::map<std::int64_t, std::vector<double>> values;
  const std::size_t seeds = data.result.seeds.size(), first = cell * seeds;
  std::size_t begun = 0;
  for (std::size_t row = first; row < std::min(first + seeds, data.curves.size()); ++row) {
    begun += data.curves[row].empty() ? 0 : 1;
    for (const MetricsRow& evaluation : data.curves[row])
      if (std::isfinite(evaluation.*column)) values[evaluation.step].push_back(evaluation.*column);
  }
  Curve curve{cell, {}};
  for (const auto& [step, all] : values)
    if (all.size() == begun) curve.steps.emplace_back(step, summarised(all));
  return curve;
}

std::vector<Curve> curvesOf(const SweepData& data, const SweepSlice& slice) {
  std::vector<Curve> curves;
  for (std::size_t series = 0; series < slice.series(); ++series)
    for (std::size_t position = 0; position < slice.positions(); ++position)
      curves.push_back(curveOfCell(data, slice, slice.cell(series, position)));
  return curves;
}

void drawCurve(SweepCanvas& canvas, QCPAxisRect* rect, const Curve& curve, const SweepSlice& slice,
               const SweepValueAxis& values, int style) {
  const Theme& theme = canvas.theme();
  const QString label = slice.cellLabel(curve.cell);
  QVector<double> keys, means, low, high;
  for (const auto& [step, summary] : curve.steps) {
    const auto key = static_cast<double>(step);
    keys.append(key);
    means.append(values.place(summary.mean));
    low.append(values.place(std::isnan(summary.low) ? summary.mean : summary.low));
    high.append(values.place(std::isnan(summary.high) ? summary.mean : summary.high));
    canvas.mark(rect, key, means.back(),
                QObject::tr("<b>Step %1</b><br>%2<br>%3")
                    .arg(stepText(step), label.toHtmlEscaped(), summaryText(slice.measure(), summary)));
  }
  addBand(canvas, rect, keys, low, high, theme.runColor(style));
  QCPGraph* line = canvas.addGraph(rect);
  line->setPen(theme.runPen(style, style));
  line->setScatterStyle(scatterStyle(theme, style, theme.runColor(style), 5));
  constexpr int most_markers = 16;
  line->setScatterSkip(static_cast<int>(keys.size()) / most_markers);
  line->setData(keys, means, true);
}

}  // namespace

double MetricsRow::*curveOf(const SweepMeasure& measure) {
  static const std::map<std::string, double MetricsRow::*> columns = {{"gap_add_beta", &MetricsRow::gap_add_beta},
                                                                      {"gap_oracle", &MetricsRow::gap_oracle},
                                                                      {"model_loss", &MetricsRow::test_loss},
                                                                      {"train_loss", &MetricsRow::train_loss}};
  const auto found = columns.find(measure.name);
  if (found != columns.end()) return found->second;
  throw std::invalid_argument(
      "the measure is " + in_quotes(measure.name) +
      ", which metrics.csv does not follow over training; curves show gap_add_beta, gap_oracle, "
      "model_loss or train_loss.");
}

void drawSweepCurves(SweepCanvas& canvas, const SweepData& data, const SweepSlice& slice) {
  const Theme& theme = canvas.theme();
  const std::vector<Curve> curves = curvesOf(data, slice);
  SweepValueAxis values(slice);
  std::int64_t last = 0;
  for (const Curve& curve : curves)
    for (const auto& [step, summary] : curve.steps) {
      values.add(summary);
      last = std::max(last, step);
    }
  QCPAxisRect* rect = canvas.addRect(0);
  QCPAxis* x = rect->axis(QCPAxis::atBottom);
  const QSharedPointer<TidyTicker> ticker(new TidyTicker(true));
  ticker->fitTo(x);
  x->setTicker(ticker);
  const AxisRange steps = stepRange(last, last);
  x->setRange(steps.lower, steps.upper);
  values.apply(rect->axis(QCPAxis::atLeft), theme, canvas.height() * usual_share);
  canvas.chart().setAxisTitles(rect, QObject::tr("Training step"),
                               measureTitle(slice.measure(), theme, canvas.height() * sure_share));

  std::vector<LegendEntry> legend;
  for (std::size_t index = 0; index < curves.size(); ++index) {
    const Curve& curve = curves[index];
    if (curve.steps.empty()) continue;
    const int style = static_cast<int>(index);
    drawCurve(canvas, rect, curve, slice, values, style);
    legend.push_back(seriesEntry(theme, slice.cellLabel(curve.cell), style, true));
  }
  if (data.result.seeds.size() > 1) legend.push_back({QObject::tr("band: 95 % interval"), QPen(Qt::NoPen), -1, {}});
  canvas.chart().flowLegend()->setEntries(std::move(legend));
}

PanelTable sweepCurvesTable(const SweepData& data, const SweepSlice& slice) {
  PanelTable table;
  for (const SweepAxis& axis : data.result.axes) table.columns << QString::fromStdString(axis.name);
  const QString name = QString::fromStdString(slice.measure().name);
  table.columns << QStringLiteral("step");
  for (const char* const what : {"_mean", "_low", "_high"}) table.columns << name + QLatin1String(what);
  table.columns << QStringLiteral("seeds");
  for (const Curve& curve : curvesOf(data, slice)) {
    const std::vector<std::size_t>& along = slice.rows(curve.cell).front().position;
    for (const auto& [step, summary] : curve.steps) {
      QStringList row;
      for (std::size_t axis = 0; axis < along.size(); ++axis)
        row << QString::fromStdString(data.result.axes[axis].labels[along[axis]]);
      row << exactText(step) << exactText(summary.mean) << exactText(summary.low) << exactText(summary.high)
          << exactText(summary.n);
      table.rows.push_back(row);
    }
  }
  return table;
}

}  // namespace mambarium
