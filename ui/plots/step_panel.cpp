#include "ui/plots/step_panel.h"

#include <QComboBox>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/loss_unit.h"
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

  means_box_ =
      addChoice({tr("Runs"), tr("Mean over seeds")}, tr("Curves of the panel “%1”").arg(title),
                tr("Each run by itself, or the mean of runs that differ in their seed alone, with a band of one "
                   "standard deviation"));
  minus_box_ = addChoice({}, tr("Run subtracted in the panel “%1”").arg(title),
                         tr("Subtract a run from all others, row by row at the steps that both have"));
  for (QComboBox* box : {means_box_, minus_box_}) footer()->addWidget(box);
  means_box_->setMinimumWidth(0);  // as wide as its text: the names of runs beside it are long, and are cut instead
  footer()->addStretch(1);
  connect(means_box_, &QComboBox::activated, this, [this](int index) { setView({index == 1, view_.minus}); });
  connect(minus_box_, &QComboBox::activated, this, [this](int index) {
    setView({view_.means, minus_box_->itemData(index).toString().toStdString()});
  });
  updateChoices();
}

RunCurves::View StepPanel::viewFrom(const nlohmann::json& options) const {
  const std::string panel = id().toStdString();
  const std::string curves =
      optionChoice(options, panel.c_str(), "curves", view_.means ? "means" : "runs", {"runs", "means"});
  return {curves == "means", optionText(options, panel.c_str(), "minus", view_.minus)};
}

nlohmann::json StepPanel::withView(nlohmann::json options) const {
  options["curves"] = view_.means ? "means" : "runs";
  options["minus"] = view_.minus;
  return options;
}

void StepPanel::setView(const RunCurves::View& view) {
  if (view == view_) return;
  view_ = view;
  forgetRanges();
  redraw();
}

void StepPanel::updateChoices() {
  QStringList texts = {tr("as they are")}, folders = {QString()};
  for (const RunSeries& run : data().runs)
    if (!run.folder.empty()) {
      texts << tr("minus %1").arg(QString::fromStdString(run.title));
      folders << QString::fromStdString(run.folder);
    }
  bool same = minus_box_->count() == texts.size();
  for (int i = 0; same && i < minus_box_->count(); ++i)
    same = minus_box_->itemText(i) == texts[i] && minus_box_->itemData(i) == folders[i];
  if (!same) {
    minus_box_->clear();
    for (qsizetype i = 0; i < texts.size(); ++i) minus_box_->addItem(texts[i], folders[i]);
  }
  minus_box_->setCurrentIndex(std::max(minus_box_->findData(QString::fromStdString(view_.minus)), 0));
  means_box_->setCurrentIndex(view_.means ? 1 : 0);
  for (QComboBox* box : {means_box_, minus_box_}) box->setVisible(data().runs.size() > 1);
}

bool StepPanel::prepare(const PanelChange& change) {
  if (change.runs) forgetRanges();
  curves_.update(data().runs, view_);
  updateChoices();
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

std::vector<LegendEntry> StepPanel::curveEntries() const {
  std::vector<LegendEntry> entries;
  for (const RunCurve& curve : curves()) {
    const RunSeries& run = *curve.run;
    QString text = QString::fromStdString(run.title);
    if (view_.means) text += tr(", mean of %1").arg(countText(std::ssize(curve.members), tr("seed"), tr("seeds")));
    if (unitsDiffer()) text += tr(" (%1)").arg(lossUnit(run.config));
    entries.push_back({text, theme().runPen(run.palette_index, run.marker_index), run.marker_index,
                       theme().runColor(run.palette_index)});
  }
  if (subtracted())
    entries.push_back({tr("minus %1").arg(QString::fromStdString(subtracted()->title)),
                       QPen(theme().neutral(), theme().scale()),
                       -1,
                       {}});
  return entries;
}

std::vector<EndLabel> StepPanel::zeroLabels() const {
  if (!subtracted()) return {};
  return {{0, tr("equal"), theme().mutedText()}};
}

QString StepPanel::unit() const {
  if (const RunSeries* const run = currentRun()) return lossUnit(run->config);
  return lossUnit(data().runs.empty() ? ExperimentConfig() : data().runs.front().config);
}

bool StepPanel::sharesUnit(const RunSeries& run) const {
  return lossUnit(run.config) == unit();
}

bool StepPanel::unitsDiffer() const {
  return !std::all_of(data().runs.begin(), data().runs.end(), [this](const RunSeries& run) { return sharesUnit(run); });
}

QString StepPanel::axisTitle(const QString& quantity) const {
  const QString unit_text = unitsDiffer() ? tr("the legend says in what") : unit();
  return (subtracted() ? tr("%1 difference (%2)") : tr("%1 (%2)")).arg(quantity, unit_text);
}

QString StepPanel::unitColumn(const char* quantity) const {
  const QString name = QLatin1String(quantity);
  return unitsDiffer() ? name : name + u'_' + unit().replace(u' ', u'_');
}

QString StepPanel::valueText(const RunCurve& curve, std::size_t row, double MetricsRow::*field) {
  const QString value = natsText(curve.run->rows[row].*field);
  const double deviation = row < curve.deviations.size() ? curve.deviations[row].*field : NAN;
  return std::isnan(deviation) ? value : tr("%1 ± %2").arg(value, natsText(deviation));
}

QString StepPanel::describeCurve(const QString& quantity, double MetricsRow::*field) const {
  const RunCurve* curve = curves_.curveOf(data().current);
  if (!curve && !curves().empty()) curve = &curves().front();
  if (!curve) return tr("There is no other run to subtract this one from.");
  const QString title = QString::fromStdString(curve->run->title);
  if (curve->run->rows.empty()) return tr("%1: there is no step yet that all of its runs have evaluated.").arg(title);
  const std::size_t last = curve->run->rows.size() - 1;
  QString text = tr("Step %1: %2 of %3").arg(stepText(curve->run->rows[last].step), quantity, title);
  if (view_.means) text += tr(", mean over %1").arg(countText(std::ssize(curve->members), tr("seed"), tr("seeds")));
  if (subtracted())
    text += (view_.means ? tr(", minus the mean of %1") : tr(", minus that of %1"))
                .arg(QString::fromStdString(subtracted()->title));
  text += tr(", %1 %2").arg(valueText(*curve, last, field), lossUnit(curve->run->config));
  if (view_.means && curve->members.size() > 1) text += tr(" (± and band: one standard deviation over seeds)");
  return text + u'.';
}

void StepPanel::appendViewColumns(QStringList& columns) const {
  if (view_.means) columns << QStringLiteral("standard_deviation") << QStringLiteral("seeds");
  if (subtracted()) columns << QStringLiteral("minus");
  if (unitsDiffer()) columns << QStringLiteral("unit");
}

void StepPanel::appendView(QStringList& fields, const RunCurve& curve, double deviation) const {
  if (view_.means) fields << exactText(deviation) << exactText(std::ssize(curve.members));
  if (subtracted()) fields << QString::fromStdString(subtracted()->title);
  if (unitsDiffer()) fields << lossUnit(curve.run->config);
}

void StepPanel::drawBand(const RunCurve& curve, double MetricsRow::*field, double lowest) {
  if (curve.members.size() < 2 || curve.deviations.empty()) return;
  QVector<QCPGraphData> lower, upper;
  for (std::size_t i = 0; i < curve.deviations.size(); ++i) {
    const MetricsRow& row = curve.run->rows[i];
    const double deviation = curve.deviations[i].*field, step = static_cast<double>(row.step);
    lower.append({step, std::max(row.*field - deviation, lowest)});
    upper.append({step, std::max(row.*field + deviation, lowest)});
  }
  QCPGraph* floor = graphs_.next();
  QCPGraph* ceiling = graphs_.next();
  for (QCPGraph* edge : {floor, ceiling}) edge->setPen(Qt::NoPen);
  QColor color = theme().runColor(curve.run->palette_index);
  color.setAlpha(60);
  ceiling->setBrush(color);
  ceiling->setChannelFillGraph(floor);
  floor->data()->set(lower, true);
  ceiling->data()->set(upper, true);
}

void StepPanel::drawReference(Reference kind, double value) {
  QCPGraph* graph = graphs_.next();
  graph->setPen(theme().referencePen(kind));
  graph->setData({xAxis()->range().lower, xAxis()->range().upper}, {value, value}, true);
}

void StepPanel::drawBranch(const RunSeries& run) {
  if (!isPlain() || run.parent.empty() || run.rows.empty()) return;
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
  return Theme::mixed(color, theme().panel(), 0.55);
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
  for (const RunCurve& curve : curves()) {
    const auto row = nearest(*curve.run);
    if (row != curve.run->rows.end() && (!anchor_row || distance(*row) < distance(*anchor_row))) anchor_row = &*row;
  }
  if (!anchor_row) return;

  QString text = QStringLiteral("<b>%1</b>").arg(tr("Step %1").arg(stepText(anchor_row->step)));
  std::vector<QPointF> avoid;
  for (const RunCurve& curve : curves()) {
    const RunSeries& run = *curve.run;
    for (const MetricsRow& row : run.rows)
      avoid.emplace_back(xAxis()->coordToPixel(static_cast<double>(row.step)), yAxis()->coordToPixel(drawnValue(row)));
    const auto row = nearest(run);
    if (row == run.rows.end() || row->step != anchor_row->step) continue;
    text += QStringLiteral("<br><span style='color:%1'>●</span> %2: %3")
                .arg(theme().runColor(run.palette_index).name(), QString::fromStdString(run.title).toHtmlEscaped(),
                     readout(curve, static_cast<std::size_t>(row - run.rows.begin())));
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
