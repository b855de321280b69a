#include "ui/plots/sweep_text.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr std::size_t few_cells = 8;

struct Cell {
  const SweepSummary* summary;
  QString label;
};

std::vector<Cell> measuredCells(const SweepSlice& slice) {
  std::vector<Cell> cells;
  for (std::size_t series = 0; series < slice.series(); ++series)
    for (std::size_t position = 0; position < slice.positions(); ++position) {
      const SweepSummary& summary = slice.summary(slice.cell(series, position));
      if (summary.n > 0) cells.push_back({&summary, slice.cellLabel(slice.cell(series, position))});
    }
  return cells;
}

// " by Window w and Order k"
QString axesText(const SweepSlice& slice) {
  QStringList titles;
  if (slice.x()) titles << QString::fromStdString(slice.x()->title);
  for (const SweepAxis* axis : slice.by()) titles << QString::fromStdString(axis->title);
  return titles.isEmpty() ? QString() : QObject::tr(" by %1").arg(titles.join(QObject::tr(" and ")));
}

QString seedsText(const SweepResult& result) {
  if (result.seeds.size() == 1) return QObject::tr("one seed");
  return QObject::tr("mean over %1 seeds ± half the 95 % interval").arg(result.seeds.size());
}

QString cellsText(const SweepMeasure& measure, const std::vector<Cell>& cells) {
  if (cells.size() <= few_cells) {
    QStringList all;
    for (const Cell& cell : cells) all << QStringLiteral("%1: %2").arg(cell.label, summaryText(measure, *cell.summary));
    return all.join(QStringLiteral("; "));
  }
  const auto [lowest, highest] = std::ranges::minmax_element(cells, {}, [](const Cell& c) { return c.summary->mean; });
  return QObject::tr("Lowest %1 at %2; highest %3 at %4")
      .arg(summaryText(measure, *lowest->summary), lowest->label, summaryText(measure, *highest->summary),
           highest->label);
}

QString inHalves(QString line) {
  const qsizetype middle = line.size() / 2, before = line.lastIndexOf(u' ', middle), after = line.indexOf(u' ', middle);
  const qsizetype gap = before < 0 || (after >= 0 && after - middle < middle - before) ? after : before;
  return gap < 0 ? line : line.replace(gap, 1, u'\n');
}

}  // namespace

QString measureTitle(const SweepMeasure& measure) {
  const QString label = QString::fromStdString(measure.label);
  return measure.unit.empty() ? label : QStringLiteral("%1 (%2)").arg(label, QString::fromStdString(measure.unit));
}

QString measureTitle(const SweepMeasure& measure, const Theme& theme, double room) {
  const QFontMetricsF metrics(theme.axisFont());
  QString title = measureTitle(measure);
  if (metrics.horizontalAdvance(title) <= room) return title;
  if (!measure.unit.empty()) title.replace(QStringLiteral(" ("), QStringLiteral("\n("));
  QStringList lines;
  for (const QString& line : title.split(u'\n'))
    lines << (metrics.horizontalAdvance(line) <= room ? line : inHalves(line));
  return lines.join(u'\n');
}

QString measureText(const SweepMeasure& measure, double value) {
  if (std::isnan(value)) return QStringLiteral("–");
  return measure.name == "parameter_count" ? stepText(std::llround(value)) : fixedText(value, 4);
}

QString halfIntervalText(const SweepMeasure& measure, const SweepSummary& summary) {
  if (std::isnan(summary.high)) return {};
  return QStringLiteral("± ") + measureText(measure, (summary.high - summary.low) / 2);
}

QString summaryText(const SweepMeasure& measure, const SweepSummary& summary) {
  return QStringLiteral("%1 %2").arg(measureText(measure, summary.mean), halfIntervalText(measure, summary)).trimmed();
}

QString describeSweep(const SweepData& data, const SweepSlice& slice) {
  const SweepResult& result = slice.result();
  const SweepMeasure& measure = slice.measure();
  const std::vector<Cell> cells = measuredCells(slice);
  QString text =
      QStringLiteral("%1: %2%3, %4. ")
          .arg(QString::fromStdString(result.title), measureTitle(measure), axesText(slice), seedsText(result));
  text += cells.empty() ? QObject::tr("No model has it") : cellsText(measure, cells);
  if (data.done < result.rows.size())
    text += result.rows.size() == 1
                ? QObject::tr("; its model is not trained yet")
                : QObject::tr("; %1 of %2 models are trained").arg(data.done).arg(result.rows.size());
  return text + u'.';
}

PanelTable sweepTable(const SweepSlice& slice) {
  const SweepResult& result = slice.result();
  PanelTable table;
  for (const SweepAxis& axis : result.axes) table.columns << QString::fromStdString(axis.name);
  const QString name = QString::fromStdString(slice.measure().name);
  for (const char* const what : {"_mean", "_standard_error", "_low", "_high"})
    table.columns << name + QLatin1String(what);
  table.columns << QStringLiteral("seeds");
  for (const std::int64_t seed : result.seeds) table.columns << QStringLiteral("seed_%1").arg(seed);
  for (std::size_t series = 0; series < slice.series(); ++series)
    for (std::size_t position = 0; position < slice.positions(); ++position) {
      const SweepSummary& summary = slice.summary(slice.cell(series, position));
      const std::vector<std::size_t>& along = slice.rows(slice.cell(series, position)).front().position;
      QStringList row;
      for (std::size_t axis = 0; axis < along.size(); ++axis)
        row << QString::fromStdString(result.axes[axis].labels[along[axis]]);
      for (const double value : {summary.mean, summary.standard_error, summary.low, summary.high})
        row << exactText(value);
      row << exactText(summary.n);
      for (const double value : slice.values(slice.cell(series, position))) row << exactText(value);
      table.rows.push_back(row);
    }
  return table;
}

}  // namespace mambarium
