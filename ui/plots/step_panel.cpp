#include "ui/plots/step_panel.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {

StepPanel::StepPanel(const QString& id, const QString& title, const QString& empty_text, QWidget* parent)
    : PlotPanel(id, title, empty_text, parent),
      rect_(chart()->addRect(0)),
      end_labels_(new EndLabels(rect_)),
      graphs_(xAxis(), yAxis()) {
  const QSharedPointer<TidyTicker> ticker(new TidyTicker(true));
  ticker->fitTo(xAxis());
  xAxis()->setTicker(ticker);
  hover_line_ = new QCPItemLine(chart());
  hover_line_->setLayer(QLatin1String(Chart::highlight_layer));
  hover_line_->setClipAxisRect(rect_);
  for (auto* end : {hover_line_->start, hover_line_->end}) {
    end->setAxes(xAxis(), yAxis());
    end->setAxisRect(rect_);
    end->setTypeX(QCPItemPosition::ptPlotCoords);
    end->setTypeY(QCPItemPosition::ptAxisRectRatio);
  }
  hover_line_->setVisible(false);
}

bool StepPanel::prepare(const PanelChange& change) {
  if (change.runs) forgetRanges();
  return std::any_of(data().runs.begin(), data().runs.end(), [](const RunSeries& run) { return !run.rows.empty(); });
}

std::pair<std::int64_t, std::int64_t> StepPanel::standing() const {
  const RunSeries* run = currentRun();
  if (!run) return {0, 0};
  std::int64_t step = run->rows.empty() ? 0 : run->rows.back().step;
  if (!run->train_losses.empty()) step = std::max(step, run->train_losses.back().first);
  return {step, run->config.integer("training.steps")};
}

QString StepPanel::standingText() const {
  const auto [step, total] = standing();
  return tr("Step %1 of %2").arg(stepText(step), stepText(std::max(step, total)));
}

void StepPanel::updateStepAxis() {
  std::int64_t reached = 0, planned = 0;
  for (const RunSeries& run : data().runs) {
    if (!run.rows.empty()) reached = std::max(reached, run.rows.back().step);
    if (!run.train_losses.empty()) reached = std::max(reached, run.train_losses.back().first);
    planned = std::max(planned, run.config.integer("training.steps"));
  }
  const AxisRange range = stepRange(reached, planned);
  xAxis()->setRange(range.lower, range.upper);
}

void StepPanel::drawReference(Reference kind, double value) {
  QCPGraph* graph = graphs_.next();
  graph->setPen(theme().referencePen(kind));
  graph->setData({xAxis()->range().lower, xAxis()->range().upper}, {value, value}, true);
}

void StepPanel::drawBranch(const RunSeries& run) {
  if (run.parent.empty() || run.rows.empty()) return;
  const MetricsRow& first = run.rows.front();
  const auto parent = std::find_if(data().runs.begin(), data().runs.end(), [&](const RunSeries& other) {
    return std::filesystem::path(other.folder).filename() == run.parent;
  });
  if (parent == data().runs.end()) return;
  const auto after = std::find_if(parent->rows.begin(), parent->rows.end(),
                                  [&](const MetricsRow& row) { return row.step > first.step; });
  if (after == parent->rows.begin()) return;
  const MetricsRow& from = *std::prev(after);
  QPen pen = theme().runPen(run.palette_index, run.marker_index, 1.0);
  pen.setColor(pale(pen.color()));
  QCPGraph* graph = graphs_.next();
  graph->setPen(pen);
  graph->setData({static_cast<double>(from.step), static_cast<double>(first.step)},
                 {drawnValue(from), drawnValue(first)}, true);
}

QColor StepPanel::pale(const QColor& color) const {
  const QColor ground = theme().panel();
  const auto mix = [](int a, int b) { return (a * 45 + b * 55) / 100; };
  return {mix(color.red(), ground.red()), mix(color.green(), ground.green()), mix(color.blue(), ground.blue())};
}

void StepPanel::hover(const QPointF& pixel) {
  if (!rect_->rect().contains(pixel.toPoint())) {
    leave();
    return;
  }
  const double wanted = xAxis()->pixelToCoord(pixel.x());
  const auto distance = [wanted](const MetricsRow& row) { return std::abs(static_cast<double>(row.step) - wanted); };
  const auto nearest = [&](const RunSeries& run) {
    return std::min_element(run.rows.begin(), run.rows.end(),
                            [&](const MetricsRow& a, const MetricsRow& b) { return distance(a) < distance(b); });
  };

  const MetricsRow* anchor_row = nullptr;
  for (const RunSeries& run : data().runs) {
    const auto row = nearest(run);
    if (row != run.rows.end() && (!anchor_row || distance(*row) < distance(*anchor_row))) anchor_row = &*row;
  }
  if (!anchor_row) return;

  QString text = QStringLiteral("<b>%1</b>").arg(tr("Step %1").arg(stepText(anchor_row->step)));
  std::vector<QPointF> avoid;
  for (const RunSeries& run : data().runs) {
    for (const MetricsRow& row : run.rows)
      avoid.emplace_back(xAxis()->coordToPixel(static_cast<double>(row.step)), yAxis()->coordToPixel(drawnValue(row)));
    const auto row = nearest(run);
    if (row == run.rows.end() || row->step != anchor_row->step) continue;
    text += QStringLiteral("<br><span style='color:%1'>●</span> %2: %3")
                .arg(theme().runColor(run.palette_index).name(), QString::fromStdString(run.title).toHtmlEscaped(),
                     readout(run, *row));
  }
  const double x = static_cast<double>(anchor_row->step);
  hover_line_->start->setCoords(x, 0);
  hover_line_->end->setCoords(x, 1);
  hover_line_->setPen(QPen(theme().neutral(), theme().scale()));
  hover_line_->setVisible(true);
  chart()->replotHighlight();
  hoverLabel()->showAt(text, {xAxis()->coordToPixel(x), pixel.y()}, avoid, rect_->rect());
}

void StepPanel::leave() {
  PlotPanel::leave();
  if (!hover_line_->visible()) return;
  hover_line_->setVisible(false);
  chart()->replotHighlight();
}

}  // namespace mambarium
