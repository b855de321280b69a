#include "core/sweep/sweep_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/contract/text.h"
#include "core/contract/yardsticks.h"

namespace mambarium {

namespace {

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

// The unit that the losses of all points share, or none.
std::string shared_loss_unit(std::span<const SweepPoint> points) {
  const std::string unit = loss_unit(points.front().config);
  const bool is_shared =
      std::ranges::all_of(points, [&](const SweepPoint& point) { return loss_unit(point.config) == unit; });
  return is_shared ? unit : "";
}

}  // namespace

SweepResult sweep_result(const Sweep& sweep, std::span<const SweepPoint> points,
                         std::span<const PointMeasures> measures) {
  SweepResult result;
  result.name = sweep.name;
  result.title = sweep.title;
  result.axes = sweep.axes;
  result.seeds = sweep.seeds;
  result.keys = sweep.keys;
  result.measures = sweep_measures_in(shared_loss_unit(points));
  result.base = points.front().config;
  for (std::size_t index = 0; index < points.size(); ++index) {
    const SweepPoint& point = points[index];
    SweepRow row{point.id, point.position, point.seed, {}, measures[index].values, measures[index].standard_errors};
    for (const std::string& key : sweep.keys) row.settings.push_back(value_to_string(point.config.value(key)));
    result.rows.push_back(std::move(row));
  }
  summarise(result);
  return result;
}

SweepResult unmeasured(const Sweep& sweep, std::span<const SweepPoint> points) {
  const std::vector<double> unknown(sweep_measures().size(), std::numeric_limits<double>::quiet_NaN());
  return sweep_result(sweep, points, std::vector<PointMeasures>(points.size(), {unknown, unknown}));
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
