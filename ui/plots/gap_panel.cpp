#include "ui/plots/gap_panel.h"

#include <QShortcut>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr double lowest_gap_floor = 1e-6;  // evaluations carry more noise than this

// The price of not knowing the kernel; NaN before the first evaluation.
double floorOf(const RunSeries& run) {
  return run.rows.empty() ? NAN : run.rows.back().add_beta_loss - run.rows.back().oracle_loss;
}

}  // namespace

QString gapTrend(const std::vector<MetricsRow>& rows) {
  const std::size_t half = std::min<std::size_t>(rows.size() / 2, 4);
  if (half == 0) return {};
  double newer = 0, older = 0;
  for (std::size_t i = 0; i < half; ++i) {
    newer += rows[rows.size() - 1 - i].gap_add_beta;
    older += rows[rows.size() - 1 - half - i].gap_add_beta;
  }
  const double change = (newer - older) / static_cast<double>(half);
  const double level = 0.02 * std::abs(older) / static_cast<double>(half);
  if (change < -level) return GapPanel::tr("falling");
  if (change > level) return GapPanel::tr("rising");
  return GapPanel::tr("level");
}

GapPanel::GapPanel(QWidget* parent)
    : StepPanel(QStringLiteral("gap"), tr("Gap to the best predictor"),
                tr("The gap between the model and the best possible predictor will appear here. Press Play (Space) to "
                   "train."),
                parent),
      log_ticker_(new LogStripTicker(powerText)),
      linear_ticker_(new TidyTicker) {
  oracle_button_ =
      addToggle(tr("Oracle"), tr("Show the gap to the oracle"),
                tr("Show the gap to the predictor that knows the chain, and the floor it cannot fall below"), oracle_);
  log_button_ = addToggle(tr("Log"), tr("Logarithmic gap axis"), tr("Logarithmic or linear axis (L)"), log_);
  connect(oracle_button_, &QToolButton::toggled, this, [this](bool on) {
    oracle_ = on;
    forgetRanges();
    redraw();
  });
  connect(log_button_, &QToolButton::toggled, this, [this](bool on) {
    log_ = on;
    redraw();
  });
  auto* shortcut = new QShortcut(QKeySequence(Qt::Key_L), this);
  connect(shortcut, &QShortcut::activated, log_button_, &QToolButton::toggle);

  strip_ = new QCPItemRect(chart());
  strip_->setLayer(QStringLiteral("grid"));
  strip_->setClipAxisRect(rect());
  strip_->setPen(Qt::NoPen);
  for (auto* corner : {strip_->topLeft, strip_->bottomRight}) {
    corner->setAxes(xAxis(), yAxis());
    corner->setAxisRect(rect());
    corner->setTypeX(QCPItemPosition::ptAxisRectRatio);
    corner->setTypeY(QCPItemPosition::ptPlotCoords);
  }
}

nlohmann::json GapPanel::options() const {
  return withView({{"log", log_}, {"oracle", oracle_}});
}

void GapPanel::setOptions(const nlohmann::json& options) {
  const bool log = optionBool(options, "gap", "log", log_);
  const bool oracle = optionBool(options, "gap", "oracle", oracle_);
  const RunCurves::View view = viewFrom(options);
  setView(view);
  log_button_->setChecked(log);
  oracle_button_->setChecked(oracle);
}

void GapPanel::forgetRanges() {
  linear_range_.reset();
  log_range_.reset();
}

double GapPanel::place(double gap) const {
  return isLog() && log_range_ ? log_range_->place(gap) : gap;
}

void GapPanel::updateGapAxis() {
  LogRangeFinder finder(lowest_gap_floor);
  double low = 0, high = 0;
  const auto include = [&](double gap) {
    finder.add(gap);
    if (!std::isfinite(gap)) return;
    low = std::min(low, gap);
    high = std::max(high, gap);
  };
  for (const RunCurve& curve : curves())
    for (std::size_t i = 0; i < curve.run->rows.size(); ++i) {
      const MetricsRow& row = curve.run->rows[i];
      include(row.gap_add_beta);
      if (showsOracle()) include(row.gap_oracle);
      if (!view().means || curve.members.size() < 2) continue;
      include(row.gap_add_beta + curve.deviations[i].gap_add_beta);
      if (!isLog()) include(row.gap_add_beta - curve.deviations[i].gap_add_beta);
    }
  // The floor lines too: outside the axis their labels would stand at its border, as if that were their value.
  for (const RunSeries& run : data().runs)
    if (const double floor = floorOf(run);
        showsOracle() && sharesUnit(run) && std::isfinite(floor) && (!isLog() || floor > 0))
      include(floor);
  log_range_ = finder.range(log_range_);
  linear_range_ = linearRange(low, high, linear_range_);

  if (isLog()) {
    log_ticker_->setLogRange(*log_range_, log_range_->clips_positive
                                              ? QStringLiteral("< ") + powerText(log_range_->floor)
                                              : QStringLiteral("≤ 0"));
    yAxis()->setScaleType(QCPAxis::stLogarithmic);
    yAxis()->setTicker(log_ticker_);
    yAxis()->setRange(log_range_->end(), log_range_->upper);
  } else {
    yAxis()->setScaleType(QCPAxis::stLinear);
    yAxis()->setTicker(linear_ticker_);
    yAxis()->setRange(linear_range_->lower, linear_range_->upper);
  }
  yAxis()->grid()->setZeroLinePen(isLog() ? QPen(Qt::NoPen) : QPen(theme().neutral(), theme().scale()));
  strip_->setVisible(isLog() && log_range_->has_strip);
  strip_->setBrush(theme().grid());
  strip_->topLeft->setCoords(0, log_range_->floor);
  strip_->bottomRight->setCoords(1, log_range_->end());
}

void GapPanel::draw() {
  chart()->setAxisTitles(rect(), tr("Training step"), axisTitle(tr("Gap")));
  for (QToolButton* button : {log_button_, oracle_button_}) button->setEnabled(!subtracted());
  updateStepAxis();
  updateGapAxis();

  graphs().begin();
  if (showsOracle()) {
    drawFloors();
    for (const RunCurve& curve : curves()) drawGap(curve, &MetricsRow::gap_oracle, false);
  } else {
    endLabels()->setTheme(theme());
    endLabels()->setLabels(zeroLabels());
  }
  for (const RunCurve& curve : curves()) drawBranch(*curve.run);
  for (const RunCurve& curve : curves()) drawGap(curve, &MetricsRow::gap_add_beta, true);
  graphs().end();

  std::vector<LegendEntry> legend = curveEntries();
  const QColor neutral = theme().neutral();
  legend.push_back({tr("to %1").arg(estimatorName(data().runs)), QPen(neutral, 1.8 * theme().scale()), -1, {}});
  if (showsOracle()) legend.push_back({tr("to the oracle"), QPen(neutral, 0.8 * theme().scale()), -1, {}});
  chart()->flowLegend()->setEntries(std::move(legend));
}

void GapPanel::drawGap(const RunCurve& curve, double MetricsRow::*gap, bool thick) {
  if (thick) drawBand(curve, gap, isLog() ? log_range_->floor : -INFINITY);
  const RunSeries& run = *curve.run;
  const QColor color = theme().runColor(run.palette_index);
  QVector<QCPGraphData> line, strip;
  for (const MetricsRow& row : run.rows) {
    const double step = static_cast<double>(row.step);
    const bool in_strip = isLog() && log_range_->inStrip(row.*gap);
    line.append({step, in_strip ? NAN : row.*gap});
    if (in_strip) strip.append({step, log_range_->stripCenter()});
  }
  QCPGraph* graph = graphs().next();
  graph->setPen(theme().runPen(run.palette_index, run.marker_index, thick ? 1.8 : 0.8));
  if (thick) {
    graph->setScatterStyle(scatterStyle(theme(), run.marker_index, color, 6));
    graph->setScatterSkip(scatterSkip(run.rows.size()));
  }
  graph->data()->set(line, true);
  if (strip.isEmpty()) return;
  constexpr int triangle_down = 4;
  QCPGraph* marks = graphs().next();
  marks->setLineStyle(QCPGraph::lsNone);
  marks->setScatterStyle(scatterStyle(theme(), triangle_down, color, thick ? 7 : 5, true));
  marks->data()->set(strip, true);
}

void GapPanel::drawFloors() {
  std::vector<EndLabel> labels;
  std::vector<std::pair<double, const RunSeries*>> drawn;
  for (const RunSeries& run : data().runs) {
    const double floor = floorOf(run);
    const bool known = std::any_of(drawn.begin(), drawn.end(),
                                   [&](const auto& other) { return std::abs(other.first - floor) < 1e-9; });
    if (known || !sharesUnit(run) || !std::isfinite(floor) || (isLog() && log_range_->inStrip(floor))) continue;
    drawReference(Reference::oracle, floor);
    const bool named = std::any_of(drawn.begin(), drawn.end(),
                                   [&](const auto& other) { return sameTask(other.second->config, run.config); });
    drawn.emplace_back(floor, &run);
    if (named) continue;
    const QString name = tr("%1 − oracle").arg(estimatorName(run.config));
    labels.push_back({floor, referenceName(name, run.config, data().runs), theme().mutedText()});
  }
  endLabels()->setTheme(theme());
  endLabels()->setLabels(std::move(labels));
}

QString GapPanel::readout(const RunCurve& curve, std::size_t row) const {
  const QString estimator = estimatorName(curve.run->config);
  const QString to_estimator = tr("%1 to %2").arg(valueText(curve, row, &MetricsRow::gap_add_beta), estimator);
  if (subtracted()) return to_estimator;
  return tr("%1, %2 to the oracle").arg(to_estimator, valueText(curve, row, &MetricsRow::gap_oracle));
}

QString GapPanel::describe() const {
  const RunSeries* run = currentRun();
  if (!run) return tr("The curves of the current run are hidden.");
  if (run->rows.empty()) return tr("The current run has no evaluation yet.");
  const QString best = estimatorName(run->config);
  if (!isPlain()) return describeCurve(tr("gap to %1").arg(best), &MetricsRow::gap_add_beta);
  if (std::isnan(run->rows.back().gap_add_beta))
    return tr("%1: the best possible predictor, %2, is not known.").arg(standingText(), best);
  QString text = tr("%1: gap to %2 %3 %4").arg(standingText(), best, natsText(run->rows.back().gap_add_beta), unit());
  const QString trend = gapTrend(run->rows);
  if (!trend.isEmpty()) text += QStringLiteral(", ") + trend;

  qsizetype in_strip = 0, with_rows = 0;
  double lowest = INFINITY;
  for (const RunSeries& other : data().runs) {
    if (other.rows.empty() || !sharesUnit(other)) continue;
    ++with_rows;
    lowest = std::min(lowest, other.rows.back().gap_add_beta);
    in_strip += std::count_if(other.rows.begin(), other.rows.end(),
                              [](const MetricsRow& row) { return row.gap_add_beta <= 0; });
  }
  if (with_rows > 1) {
    text += run->rows.back().gap_add_beta <= lowest
                ? tr("; the lowest of %1 runs").arg(with_rows)
                : tr("; the lowest of %1 runs is at %2").arg(with_rows).arg(natsText(lowest));
  }
  if (isLog() && in_strip > 0)
    text +=
        tr("; %1 at or below zero drawn in the strip").arg(countText(in_strip, tr("evaluation"), tr("evaluations")));
  return text + u'.';
}

PanelTable GapPanel::table() const {
  PanelTable table;
  table.columns = {QStringLiteral("run"), QStringLiteral("step"), unitColumn("gap_add_beta")};
  if (showsOracle()) table.columns << unitColumn("gap_oracle") << unitColumn("add_beta_minus_oracle");
  appendViewColumns(table.columns);
  for (const RunCurve& curve : curves())
    for (std::size_t i = 0; i < curve.run->rows.size(); ++i) {
      const MetricsRow& row = curve.run->rows[i];
      QStringList line = {QString::fromStdString(curve.run->title), exactText(row.step), exactText(row.gap_add_beta)};
      if (showsOracle()) line << exactText(row.gap_oracle) << exactText(row.add_beta_loss - row.oracle_loss);
      appendView(line, curve, view().means ? curve.deviations[i].gap_add_beta : NAN);
      table.rows.push_back(line);
    }
  return table;
}

}  // namespace mambarium
