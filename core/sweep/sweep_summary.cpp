#include "core/sweep/sweep_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/analysis/comparison.h"
#include "core/contract/text.h"
#include "core/sweep/student_t.h"

namespace mambarium {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

SweepCell cell_of(std::span<const SweepRow> rows, std::size_t measure_count) {
  SweepCell cell{rows.front().position, {}};
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    std::vector<double> values;
    for (const SweepRow& row : rows) values.push_back(row.values[measure]);
    cell.summaries.push_back(summarised(values));
  }
  return cell;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char character : text) quoted.append(character == '"' ? 2 : 1, character);
  return quoted + "\"";
}

std::string csv_number(double number) {
  return std::isnan(number) ? "" : shortest(number);
}

std::vector<std::size_t> measures_with_errors(const SweepResult& result) {
  std::vector<std::size_t> indices;
  for (std::size_t index = 0; index < result.measures.size(); ++index)
    if (std::ranges::any_of(result.rows, [&](const SweepRow& row) { return !std::isnan(row.standard_errors[index]); }))
      indices.push_back(index);
  return indices;
}

}  // namespace

SweepSummary summarised(std::span<const double> values) {
  std::vector<double> present;
  std::ranges::copy_if(values, std::back_inserter(present), [](double value) { return !std::isnan(value); });
  const std::int64_t n = std::ssize(present);
  if (n == 0) return {nan, nan, 0, nan, nan};
  if (n == 1) return {present.front(), nan, 1, nan, nan};
  const Measured over_seeds = measured(present);
  const double half = student_t_95(n - 1) * over_seeds.standard_error;
  return {over_seeds.mean, over_seeds.standard_error, n, over_seeds.mean - half, over_seeds.mean + half};
}

SweepResult sweep_result(const Sweep& sweep, std::span<const SweepPoint> points,
                         std::span<const PointMeasures> measures) {
  SweepResult result;
  result.name = sweep.name;
  result.title = sweep.title;
  result.axes = sweep.axes;
  result.seeds = sweep.seeds;
  result.keys = sweep.keys;
  result.measures = sweep_measures();
  result.base = points.front().config;
  for (std::size_t index = 0; index < points.size(); ++index) {
    const SweepPoint& point = points[index];
    SweepRow row{point.id, point.position, point.seed, {}, measures[index].values, measures[index].standard_errors};
    for (const std::string& key : sweep.keys) row.settings.push_back(value_to_string(point.config.value(key)));
    result.rows.push_back(std::move(row));
  }
  const std::size_t seeds = sweep.seeds.size();
  for (std::size_t first = 0; first < result.rows.size(); first += seeds)
    result.cells.push_back(cell_of(std::span(result.rows).subspan(first, seeds), result.measures.size()));
  return result;
}

std::string results_csv(const SweepResult& result) {
  const std::vector<std::size_t> with_errors = measures_with_errors(result);
  const auto cases = std::ranges::find(result.axes, "case", &SweepAxis::name);
  const bool has_cases = cases != result.axes.end();
  std::string text = "point";
  const auto add = [&](std::string_view field) { text.append(",").append(field); };
  for (const std::string& key : result.keys) add(key);
  if (has_cases) add("case");
  add("seed");
  for (const SweepMeasure& measure : result.measures) add(measure.name);
  for (const std::size_t index : with_errors) add(result.measures[index].name + "_standard_error");
  text += "\n";
  for (const SweepRow& row : result.rows) {
    text += row.point;
    for (const std::string& setting : row.settings) add(csv_field(setting));
    if (has_cases) add(csv_field(cases->labels[row.position[static_cast<std::size_t>(cases - result.axes.begin())]]));
    add(std::to_string(row.seed));
    for (const double value : row.values) add(csv_number(value));
    for (const std::size_t index : with_errors) add(csv_number(row.standard_errors[index]));
    text += "\n";
  }
  return text;
}

}  // namespace mambarium
