#include "ui/plots/sweep_slice.h"

#include <QStringList>
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/contract/text.h"

namespace mambarium {
namespace {

constexpr std::pair<const char*, SweepChartKind> chart_names[] = {{"heat", SweepChartKind::heat},
                                                                  {"lines", SweepChartKind::lines},
                                                                  {"dots", SweepChartKind::dots},
                                                                  {"curves", SweepChartKind::curves},
                                                                  {"matrix", SweepChartKind::matrix}};

const QString separator = QStringLiteral(" · ");

// "x is "ordr": it must be one of task.order, case."
template <class Names>
std::invalid_argument unknown(const char* what, const std::string& given, const Names& names) {
  std::string list;
  for (const std::string& name : names) list.append(list.empty() ? "" : ", ").append(name);
  return std::invalid_argument(std::string(what) + " is " + in_quotes(given) + ", " +
                               (list.empty() ? "and this sweep has none" : "it must be one of " + list) + ".");
}

std::size_t axisNamed(const SweepResult& result, const char* what, const std::string& name) {
  const auto found = std::ranges::find(result.axes, name, &SweepAxis::name);
  if (found != result.axes.end()) return static_cast<std::size_t>(found - result.axes.begin());
  std::vector<std::string> names;
  for (const SweepAxis& axis : result.axes) names.push_back(axis.name);
  throw unknown(what, name, names);
}

bool isOfTheTask(const SweepAxis& axis) {
  return !axis.keys.empty() && axis.keys.front().starts_with("task.");
}

// A quantity of the model, over one of the task, over a list of names.
std::size_t likeliestX(const SweepResult& result) {
  const auto first = [&](auto&& fits) {
    return static_cast<std::size_t>(std::ranges::find_if(result.axes, fits) - result.axes.begin());
  };
  const std::size_t of_model = first([](const SweepAxis& a) { return isContinuous(a) && !isOfTheTask(a); });
  if (of_model < result.axes.size()) return of_model;
  const std::size_t continuous = first(isContinuous);
  return continuous < result.axes.size() ? continuous : 0;
}

SweepChartKind likeliestChart(const SweepResult& result) {
  const auto continuous = std::ranges::count_if(result.axes, isContinuous);
  if (continuous >= 2) return SweepChartKind::heat;
  if (continuous == 1) return SweepChartKind::lines;
  return result.axes.size() >= 2 ? SweepChartKind::matrix : SweepChartKind::dots;
}

SweepChartKind chartNamed(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, kind] : chart_names) {
    if (name == known) return kind;
    names.emplace_back(known);
  }
  throw unknown("the chart", name, names);
}

}  // namespace

nlohmann::json to_options(const SweepChoice& choice) {
  return {{"chart", choice.chart}, {"measure", choice.measure},     {"x", choice.x},
          {"by", choice.by},       {"reference", choice.reference}, {"log", choice.log}};
}

QString labelled(const SweepAxis& axis, std::size_t position) {
  const QString label = QString::fromStdString(axis.labels[position]), title = QString::fromStdString(axis.title);
  if (axis.name == "case") return label;
  // Settings that go together: each with its own value.
  const QString comma = QStringLiteral(", ");
  QStringList titles = title.split(comma);
  const QStringList values = label.split(comma);
  if (titles.size() != values.size()) return title + u' ' + label;
  for (qsizetype i = 0; i < titles.size(); ++i) titles[i] += u' ' + values[i];
  return titles.join(comma);
}

bool isContinuous(const SweepAxis& axis) {
  return axis.numbers.size() >= 2 &&
         std::ranges::adjacent_find(axis.numbers, std::not_equal_to<>()) != axis.numbers.end();
}

SweepSlice::SweepSlice(const SweepResult& result, const SweepChoice& choice) : result_(&result), log_(choice.log) {
  chart_ = choice.chart.empty() ? likeliestChart(result) : chartNamed(choice.chart);
  const std::string wanted = choice.measure.empty() ? "gap_add_beta" : choice.measure;
  const auto measure = std::ranges::find(result.measures, wanted, &SweepMeasure::name);
  if (measure == result.measures.end()) {
    std::vector<std::string> names;
    for (const SweepMeasure& known : result.measures) names.push_back(known.name);
    throw unknown("the measure", wanted, names);
  }
  measure_ = static_cast<std::size_t>(measure - result.measures.begin());
  placeAxes(choice);
  if (choice.reference.empty()) return;
  const auto cases = std::ranges::find(result.axes, "case", &SweepAxis::name);
  if (cases == result.axes.end())
    throw std::invalid_argument("the reference is " + in_quotes(choice.reference) +
                                ", it must be a case, and this sweep has no cases.");
  const auto found = std::ranges::find(cases->labels, choice.reference);
  if (found == cases->labels.end()) throw unknown("the reference", choice.reference, cases->labels);
  reference_ = {static_cast<std::size_t>(cases - result.axes.begin()),
                static_cast<std::size_t>(found - cases->labels.begin())};
}

void SweepSlice::placeAxes(const SweepChoice& choice) {
  const std::size_t count = result_->axes.size();
  if (!choice.by.empty()) by_.push_back(axisNamed(*result_, "the axis of the series", choice.by));
  const auto is_taken = [this](std::size_t axis) { return !by_.empty() && by_.front() == axis; };
  if (!choice.x.empty())
    x_ = axisNamed(*result_, "the axis along x", choice.x);
  else if (count > 0)
    x_ = likeliestX(*result_);
  // A series' axis that would have been x gives x to another.
  if (choice.x.empty() && count > 1 && is_taken(*x_)) x_ = *x_ == 0 ? 1 : 0;
  if (x_ && is_taken(*x_))
    throw std::invalid_argument("the axis of the series is " + in_quotes(choice.by) + ", which lies along x already.");
  for (std::size_t axis = 0; axis < count; ++axis)
    if (axis != *x_ && !is_taken(axis)) by_.push_back(axis);
}

std::vector<const SweepAxis*> SweepSlice::by() const {
  std::vector<const SweepAxis*> axes;
  for (const std::size_t axis : by_) axes.push_back(&result_->axes[axis]);
  return axes;
}

std::size_t SweepSlice::positions() const {
  return x_ ? x()->labels.size() : 1;
}

std::size_t SweepSlice::series() const {
  std::size_t count = 1;
  for (const SweepAxis* axis : by()) count *= axis->labels.size();
  return count;
}

std::vector<std::size_t> SweepSlice::indices(std::size_t series, std::size_t position) const {
  std::vector<std::size_t> along(result_->axes.size());
  if (x_) along[*x_] = position;
  for (auto axis = by_.rbegin(); axis != by_.rend(); ++axis) {
    const std::size_t length = result_->axes[*axis].labels.size();
    along[*axis] = series % length;
    series /= length;
  }
  return along;
}

std::size_t SweepSlice::cell(std::size_t series, std::size_t position) const {
  return static_cast<std::size_t>(&result_->cell(indices(series, position)) - result_->cells.data());
}

const SweepSummary& SweepSlice::summary(std::size_t cell) const {
  return result_->cells[cell].summaries[measure_];
}

std::span<const SweepRow> SweepSlice::rows(std::size_t cell) const {
  const std::size_t seeds = result_->seeds.size();
  return std::span(result_->rows).subspan(cell * seeds, seeds);
}

std::vector<double> SweepSlice::values(std::size_t cell) const {
  std::vector<double> all;
  for (const SweepRow& row : rows(cell)) all.push_back(row.values[measure_]);
  return all;
}

bool SweepSlice::isReference(std::size_t series) const {
  return reference_ && reference_->first != x_ && indices(series, 0)[reference_->first] == reference_->second;
}

QString SweepSlice::seriesTitle() const {
  QStringList titles;
  for (const SweepAxis* axis : by()) titles << QString::fromStdString(axis->title);
  return titles.join(separator);
}

QString SweepSlice::seriesName(std::size_t series) const {
  const std::vector<std::size_t> along = indices(series, 0);
  QStringList names;
  for (const std::size_t axis : by_) names << labelled(result_->axes[axis], along[axis]);
  return names.join(QStringLiteral(", "));
}

QString SweepSlice::seriesLabel(std::size_t series) const {
  const std::vector<std::size_t> along = indices(series, 0);
  QStringList labels;
  for (const std::size_t axis : by_) labels << QString::fromStdString(result_->axes[axis].labels[along[axis]]);
  return labels.join(separator);
}

QString SweepSlice::positionLabel(std::size_t position) const {
  return x_ ? QString::fromStdString(x()->labels[position]) : QString::fromStdString(result_->title);
}

QString SweepSlice::cellLabel(std::size_t cell) const {
  QStringList parts;
  for (std::size_t axis = 0; axis < result_->axes.size(); ++axis)
    parts << labelled(result_->axes[axis], result_->cells[cell].position[axis]);
  return parts.isEmpty() ? QString::fromStdString(result_->title) : parts.join(QStringLiteral(", "));
}

}  // namespace mambarium
