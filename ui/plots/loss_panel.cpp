#include "ui/plots/loss_panel.h"

#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/loss_unit.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr double smoothing_steps = 25;  // the exponential mean forgets over about so many optimiser steps

using TrainSeries = std::vector<std::pair<std::int64_t, double>>;

// Train losses between evaluations where they are known, else the means that stand in the rows.
TrainSeries trainSeries(const RunSeries& run) {
  if (!run.train_losses.empty()) return run.train_losses;
  TrainSeries series;
  for (const MetricsRow& row : run.rows)
    if (!std::isnan(row.train_loss)) series.emplace_back(row.step, row.train_loss);
  return series;
}

TrainSeries smoothed(const TrainSeries& raw) {
  TrainSeries result;
  result.reserve(raw.size());
  double mean = 0, weight = 0;
  std::int64_t last_step = raw.empty() ? 0 : raw.front().first;
  for (const auto& [step, loss] : raw) {
    if (std::isnan(loss)) continue;
    const double keep = std::exp(-static_cast<double>(std::max<std::int64_t>(step - last_step, 0)) / smoothing_steps);
    mean = mean * keep + loss;
    weight = weight * keep + 1;
    last_step = step;
    result.emplace_back(step, mean / weight);
  }
  return result;
}

void setSeries(QCPGraph* graph, const TrainSeries& series) {
  QVector<QCPGraphData> points;
  points.reserve(static_cast<int>(series.size()));
  for (const auto& [step, loss] : series) points.append({static_cast<double>(step), loss});
  graph->data()->set(points, true);
}

}  // namespace

LossPanel::LossPanel(QWidget* parent)
    : StepPanel(QStringLiteral("loss"), tr("Loss"),
                tr("The training and test loss will appear here beside the best possible predictor. Press Play (Space) "
                   "to train."),
                parent) {
  yAxis()->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker));
  train_button_ = addToggle(tr("Train"), tr("Show the training loss"),
                            tr("Show the loss of every training step, unsmoothed"), train_);
  smooth_button_ =
      addToggle(tr("Smooth"), tr("Smooth the training loss"),
                tr("Draw an exponential mean over about 25 steps in front of the raw training loss"), smooth_);
  connect(train_button_, &QToolButton::toggled, this, [this](bool on) {
    train_ = on;
    smooth_button_->setEnabled(on);
    redraw();
  });
  connect(smooth_button_, &QToolButton::toggled, this, [this](bool on) {
    smooth_ = on;
    redraw();
  });
}

nlohmann::json LossPanel::options() const {
  return withView({{"train", train_}, {"smooth", smooth_}});
}

void LossPanel::setOptions(const nlohmann::json& options) {
  const bool train = optionBool(options, "loss", "train", train_);
  const bool smooth = optionBool(options, "loss", "smooth", smooth_);
  const RunCurves::View view = viewFrom(options);
  setView(view);
  train_button_->setChecked(train);
  smooth_button_->setChecked(smooth);
}

void LossPanel::draw() {
  chart()->setAxisTitles(rect(), tr("Training step"), axisTitle(tr("Loss")));
  updateStepAxis();

  double low = INFINITY, high = -INFINITY;
  const auto include = [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (const RunCurve& curve : curves()) {
    const RunSeries& run = *curve.run;
    for (std::size_t i = 0; i < run.rows.size(); ++i) {
      const double deviation = curve.members.size() > 1 && view().means ? curve.deviations[i].test_loss : 0;
      include(run.rows[i].test_loss - deviation);
      include(run.rows[i].test_loss + deviation);
    }
    if (train_)
      for (const auto& [step, loss] : trainSeries(run)) include(loss);
    if (run.rows.empty() || subtracted() || !sharesUnit(run)) continue;
    include(run.rows.back().oracle_loss);
    include(uniformLoss(run.config));
  }
  if (subtracted()) include(0);
  if (low <= high) {
    const double margin = (high - low) * 0.02;
    range_ = linearRange(low < 0 ? low - margin : std::max(low - margin, 0.0), high + margin, range_);
    yAxis()->setRange(range_->lower, range_->upper);
  }

  graphs().begin();
  drawReferences();
  yAxis()->grid()->setZeroLinePen(subtracted() ? QPen(theme().neutral(), theme().scale()) : QPen(Qt::NoPen));
  if (train_)
    for (const RunCurve& curve : curves()) drawTrain(*curve.run);
  for (const RunCurve& curve : curves()) drawTest(curve);
  graphs().end();

  std::vector<LegendEntry> legend = curveEntries();
  if (train_) legend.push_back({tr("thin: train"), QPen(pale(theme().neutral()), theme().scale()), -1, {}});
  chart()->flowLegend()->setEntries(std::move(legend));
}

void LossPanel::drawTrain(const RunSeries& run) {
  const TrainSeries raw = trainSeries(run);
  const QColor color = theme().runColor(run.palette_index);
  QCPGraph* graph = graphs().next();
  graph->setPen(QPen(pale(color), theme().scale()));
  setSeries(graph, raw);
  if (!smooth_) return;
  QCPGraph* mean = graphs().next();
  mean->setPen(QPen(color, theme().scale()));
  setSeries(mean, smoothed(raw));
}

void LossPanel::drawTest(const RunCurve& curve) {
  drawBand(curve, &MetricsRow::test_loss, -INFINITY);
  const RunSeries& run = *curve.run;
  drawBranch(run);
  QCPGraph* graph = graphs().next();
  graph->setPen(theme().runPen(run.palette_index, run.marker_index));
  graph->setScatterStyle(scatterStyle(theme(), run.marker_index, theme().runColor(run.palette_index), 6));
  graph->setScatterSkip(scatterSkip(run.rows.size()));
  QVector<QCPGraphData> points;
  points.reserve(static_cast<int>(run.rows.size()));
  for (const MetricsRow& row : run.rows) points.append({static_cast<double>(row.step), row.test_loss});
  graph->data()->set(points, true);
}

void LossPanel::drawReferences() {
  struct Line {
    Reference kind;
    double value;
    QString name;
    const ExperimentConfig* config;
  };
  std::vector<Line> lines;
  for (const RunSeries& run : data().runs) {
    if (run.rows.empty() || subtracted() || !sharesUnit(run)) continue;
    const MetricsRow& row = run.rows.back();
    const std::initializer_list<Line> candidates = {
        {Reference::uniform, uniformLoss(run.config), tr("uniform"), &run.config},
        {Reference::add_beta, row.add_beta_loss, estimatorName(run.config), &run.config},
        {Reference::oracle, row.oracle_loss, tr("oracle"), &run.config}};
    for (const Line& line : candidates) {
      const bool known = std::any_of(lines.begin(), lines.end(), [&](const Line& other) {
        return other.kind == line.kind && std::abs(other.value - line.value) < 1e-9;
      });
      if (!known && std::isfinite(line.value)) lines.push_back(line);
    }
  }
  std::vector<EndLabel> labels = zeroLabels();
  for (auto line = lines.begin(); line != lines.end(); ++line) {
    drawReference(line->kind, line->value);
    const auto is_akin = [&](const Line& other) { return other.kind == line->kind; };
    // Another test set of the same task moves a reference a little: its line needs no second name.
    if (std::any_of(lines.begin(), line,
                    [&](const Line& other) { return is_akin(other) && sameTask(*other.config, *line->config); }))
      continue;
    const bool is_alone = std::count_if(lines.begin(), lines.end(), is_akin) == 1;
    labels.push_back({line->value, is_alone ? line->name : referenceName(line->name, *line->config, data().runs),
                      theme().mutedText()});
  }
  endLabels()->setTheme(theme());
  endLabels()->setLabels(std::move(labels));
}

QString LossPanel::readout(const RunCurve& curve, std::size_t index) const {
  const MetricsRow& row = curve.run->rows[index];
  const QString test = valueText(curve, index, &MetricsRow::test_loss);
  const QString run_unit = lossUnit(curve.run->config);
  if (subtracted()) return tr("test %1, train %2 %3").arg(test, natsText(row.train_loss), run_unit);
  return tr("test %1, train %2, %3 %4, oracle %5 %6")
      .arg(test, natsText(row.train_loss), estimatorName(curve.run->config), natsText(row.add_beta_loss),
           natsText(row.oracle_loss), run_unit);
}

QString LossPanel::describe() const {
  const RunSeries* run = currentRun();
  if (!run) return tr("The curves of the current run are hidden.");
  if (run->rows.empty()) return tr("The current run has no evaluation yet.");
  if (!isPlain()) return describeCurve(tr("test loss"), &MetricsRow::test_loss);
  const MetricsRow& row = run->rows.back();
  QStringList references;
  const auto compare = [&](double reference, const QString& name) {
    const double difference = row.test_loss - reference;
    if (std::isnan(difference)) return;
    references << tr("%1 %2 %3").arg(natsText(std::abs(difference)), difference >= 0 ? tr("above") : tr("below"), name);
  };
  compare(row.add_beta_loss, estimatorName(run->config));
  compare(uniformLoss(run->config), tr("a uniform guess"));
  QString text = tr("%1: test loss %2 %3").arg(standingText(), natsText(row.test_loss), unit());
  if (!references.isEmpty()) text += QStringLiteral(", ") + references.join(tr(" and "));
  return text + u'.';
}

PanelTable LossPanel::table() const {
  PanelTable table;
  table.columns = {QStringLiteral("run"), QStringLiteral("step"), QStringLiteral("series"), unitColumn("loss")};
  appendViewColumns(table.columns);
  const auto add = [&](const RunCurve& curve, std::int64_t step, const char* series, double value, double deviation) {
    QStringList row = {QString::fromStdString(curve.run->title), exactText(step), QLatin1String(series),
                       exactText(value)};
    appendView(row, curve, deviation);
    table.rows.push_back(std::move(row));
  };
  for (const RunCurve& curve : curves()) {
    const RunSeries& run = *curve.run;
    if (train_)
      for (const auto& [step, loss] : trainSeries(run)) add(curve, step, "train", loss, NAN);
    for (std::size_t i = 0; i < run.rows.size(); ++i)
      add(curve, run.rows[i].step, "test", run.rows[i].test_loss, view().means ? curve.deviations[i].test_loss : NAN);
    if (run.rows.empty() || subtracted()) continue;
    const MetricsRow& last = run.rows.back();
    add(curve, last.step, "add_beta", last.add_beta_loss, NAN);
    add(curve, last.step, "oracle", last.oracle_loss, NAN);
    if (const double uniform = uniformLoss(run.config); !std::isnan(uniform))
      add(curve, last.step, "uniform", uniform, NAN);
  }
  return table;
}

}  // namespace mambarium
