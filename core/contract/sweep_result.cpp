#include "core/contract/sweep_result.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/contract/json_fields.h"
#include "core/contract/measured.h"
#include "core/contract/student_t.h"
#include "core/contract/text.h"

namespace mambarium {

using nlohmann::json;

namespace {

std::vector<std::string> texts(const json& list, const std::string& owner) {
  std::vector<std::string> all;
  for (const json& item : list) {
    if (!item.is_string()) throw std::invalid_argument(owner + ": " + shown(item) + " stands where text must be");
    all.push_back(item.get<std::string>());
  }
  return all;
}

std::vector<double> numbers(const json& list, const std::string& owner) {
  std::vector<double> all;
  for (const json& item : list) {
    if (!item.is_number()) throw std::invalid_argument(owner + ": " + shown(item) + " stands where a number must be");
    all.push_back(item.get<double>());
  }
  return all;
}

json by_measure(const std::vector<SweepMeasure>& measures, const std::vector<double>& values) {
  json map = json::object();
  for (std::size_t index = 0; index < measures.size(); ++index)
    map[measures[index].name] = number_or_null(values[index]);
  return map;
}

std::vector<double> by_measure(const std::vector<SweepMeasure>& measures, const json& map, const std::string& owner) {
  const JsonFields fields(map, owner);
  std::vector<double> values;
  for (const SweepMeasure& measure : measures) values.push_back(fields.number(measure.name.c_str()));
  return values;
}

json to_json(const SweepSummary& summary) {
  return {{"mean", number_or_null(summary.mean)},
          {"standard_error", number_or_null(summary.standard_error)},
          {"n", summary.n},
          {"low", number_or_null(summary.low)},
          {"high", number_or_null(summary.high)}};
}

SweepSummary summary_from(const json& map, const std::string& owner) {
  const JsonFields fields(map, owner);
  return {fields.number("mean"), fields.number("standard_error"), fields.count("n"), fields.number("low"),
          fields.number("high")};
}

SweepAxis axis_from(const json& map) {
  const JsonFields fields(map, "axis");
  SweepAxis axis{fields.text("name"), fields.text("title"), texts(fields.array("keys"), "axis: \"keys\""),
                 texts(fields.array("labels"), "axis: \"labels\""),
                 numbers(fields.array("numbers"), "axis: \"numbers\"")};
  if (axis.labels.empty() || (!axis.numbers.empty() && axis.numbers.size() != axis.labels.size()))
    throw std::invalid_argument("axis " + in_quotes(axis.name) + ": it must have labels, and as many numbers or none");
  return axis;
}

std::vector<std::size_t> position_from(const JsonFields& fields, const SweepResult& result, const std::string& owner) {
  const std::vector<std::int64_t> indices = fields.integers("position");
  bool fits = indices.size() == result.axes.size();
  for (std::size_t axis = 0; fits && axis < indices.size(); ++axis)
    fits = indices[axis] >= 0 && indices[axis] < std::ssize(result.axes[axis].labels);
  if (!fits) throw std::invalid_argument(owner + ": \"position\" is not a place along each of the axes");
  return {indices.begin(), indices.end()};
}

SweepRow row_from(const json& map, const SweepResult& result) {
  const JsonFields fields(map, "row");
  SweepRow row;
  row.point = fields.text("point");
  const std::string owner = "row " + in_quotes(row.point);
  row.position = position_from(fields, result, owner);
  row.seed = fields.integer("seed");
  const JsonFields settings(fields.object("settings"), owner + ": \"settings\"");
  for (const std::string& key : result.keys) row.settings.push_back(settings.text(key.c_str()));
  row.values = by_measure(result.measures, fields.object("values"), owner + ": \"values\"");
  row.standard_errors = by_measure(result.measures, fields.object("standard_errors"), owner + ": \"standard_errors\"");
  return row;
}

SweepCell cell_from(const json& map, const SweepResult& result) {
  const JsonFields fields(map, "cell");
  SweepCell cell{position_from(fields, result, "cell"), {}};
  const JsonFields summaries(fields.object("summaries"), "cell: \"summaries\"");
  for (const SweepMeasure& measure : result.measures)
    cell.summaries.push_back(summary_from(summaries.object(measure.name.c_str()), "cell: " + in_quotes(measure.name)));
  return cell;
}

std::size_t cell_index(const SweepResult& result, const std::vector<std::size_t>& position) {
  if (position.size() != result.axes.size()) throw std::out_of_range("a position has one index for each axis");
  std::size_t index = 0;
  for (std::size_t axis = 0; axis < position.size(); ++axis) {
    const std::size_t length = result.axes[axis].labels.size();
    if (position[axis] >= length) throw std::out_of_range("there is no such position along an axis");
    index = index * length + position[axis];
  }
  return index;
}

SweepCell cell_of(std::span<const SweepRow> rows, std::size_t measure_count) {
  SweepCell cell{rows.front().position, {}};
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    std::vector<double> values;
    for (const SweepRow& row : rows) values.push_back(row.values[measure]);
    cell.summaries.push_back(summarised(values));
  }
  return cell;
}

// What is out of order could not be drawn: every cell at its place, every row in its cell.
void check_order(const SweepResult& result) {
  std::size_t cells = 1;
  for (const SweepAxis& axis : result.axes) cells *= axis.labels.size();
  bool whole = result.cells.size() == cells && result.rows.size() == cells * result.seeds.size();
  for (std::size_t index = 0; whole && index < cells; ++index)
    whole = cell_index(result, result.cells[index].position) == index;
  for (std::size_t index = 0; whole && index < result.rows.size(); ++index)
    whole = cell_index(result, result.rows[index].position) == index / result.seeds.size();
  if (!whole) throw std::invalid_argument("sweep result: rows and cells are not those of the axes and seeds, in order");
}

}  // namespace

std::vector<SweepMeasure> sweep_measures_in(const std::string& loss_unit) {
  return {{"gap_add_beta", "Gap to the best predictor", loss_unit},
          {"gap_oracle", "Gap to the oracle", loss_unit},
          {"model_loss", "Test loss of the model", loss_unit},
          {"add_beta_loss", "Test loss of the best predictor", loss_unit},
          {"oracle_loss", "Test loss of the oracle", loss_unit},
          {"uniform_loss", "Loss of the uniform predictor", loss_unit},
          {"train_loss", "Training loss since the evaluation before", loss_unit},
          {"total_variation", "Distance from the best predictor's probabilities", ""},
          {"decay_ordinary", "Mean a_t at ordinary tokens", ""},
          {"decay_switch", "Mean a_t at switch tokens", ""},
          {"read_out_state", "R² of the counts from the state", ""},
          {"read_out_tokens", "R² of the counts from the tokens' own", ""},
          {"inner_product_leak", "Inner products of other contexts, as a share", ""},
          {"accuracy", "Right answers", ""},
          {"accuracy_x4", "Right answers at four times the trained length", ""},
          {"accuracy_x16", "Right answers at 16 times the trained length", ""},
          {"accuracy_x64", "Right answers at 64 times the trained length", ""},
          {"accuracy_below_ideal", "Right answers below the ideal decoder's", ""},
          {"r_squared", "R² of the decoded outputs", ""},
          {"motif_warm_up_steps", "Steps of the warm-up", "steps"},
          {"motif_warm_up_reached", "Warm-ups that reached their loss", ""},
          {"motif_hard_share", "Share of the motifs asked for, hard edges", ""},
          {"motif_soft_share", "Share of the motifs asked for, soft edges", ""},
          {"cycle_hard_share", "Share of cycles (030C), hard edges", ""},
          {"parameter_count", "Parameters", ""}};
}

const std::vector<SweepMeasure>& sweep_measures() {
  static const std::vector<SweepMeasure> measures = sweep_measures_in("nats per token");
  return measures;
}

SweepSummary summarised(std::span<const double> values) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> present;
  std::ranges::copy_if(values, std::back_inserter(present), [](double value) { return !std::isnan(value); });
  const std::int64_t n = std::ssize(present);
  if (n == 0) return {nan, nan, 0, nan, nan};
  if (n == 1) return {present.front(), nan, 1, nan, nan};
  const Measured over_seeds = measured(present);
  const double half = student_t_95(n - 1) * over_seeds.standard_error;
  return {over_seeds.mean, over_seeds.standard_error, n, over_seeds.mean - half, over_seeds.mean + half};
}

void summarise(SweepResult& result) {
  const std::size_t seeds = result.seeds.size();
  result.cells.clear();
  for (std::size_t first = 0; first < result.rows.size(); first += seeds)
    result.cells.push_back(cell_of(std::span(result.rows).subspan(first, seeds), result.measures.size()));
}

std::size_t SweepResult::measure(const std::string& measure_name) const {
  const auto found = std::ranges::find(measures, measure_name, &SweepMeasure::name);
  if (found == measures.end()) throw std::out_of_range("there is no measure " + in_quotes(measure_name));
  return static_cast<std::size_t>(found - measures.begin());
}

const SweepCell& SweepResult::cell(const std::vector<std::size_t>& position) const {
  return cells.at(cell_index(*this, position));
}

void to_json(json& document, const SweepResult& result) {
  json axes = json::array(), measures = json::array(), rows = json::array(), cells = json::array();
  for (const SweepAxis& axis : result.axes)
    axes.push_back({{"name", axis.name},
                    {"title", axis.title},
                    {"keys", axis.keys},
                    {"labels", axis.labels},
                    {"numbers", axis.numbers}});
  for (const SweepMeasure& measure : result.measures)
    measures.push_back({{"name", measure.name}, {"label", measure.label}, {"unit", measure.unit}});
  for (const SweepRow& row : result.rows) {
    json settings = json::object();
    for (std::size_t index = 0; index < result.keys.size(); ++index) settings[result.keys[index]] = row.settings[index];
    rows.push_back({{"point", row.point},
                    {"position", row.position},
                    {"seed", row.seed},
                    {"settings", std::move(settings)},
                    {"values", by_measure(result.measures, row.values)},
                    {"standard_errors", by_measure(result.measures, row.standard_errors)}});
  }
  for (const SweepCell& cell : result.cells) {
    json summaries = json::object();
    for (std::size_t index = 0; index < result.measures.size(); ++index)
      summaries[result.measures[index].name] = to_json(cell.summaries[index]);
    cells.push_back({{"position", cell.position}, {"summaries", std::move(summaries)}});
  }
  document = {{"name", result.name},          {"title", result.title},   {"axes", std::move(axes)},
              {"seeds", result.seeds},        {"keys", result.keys},     {"measures", std::move(measures)},
              {"base", to_json(result.base)}, {"rows", std::move(rows)}, {"cells", std::move(cells)}};
}

void from_json(const json& document, SweepResult& result) {
  const JsonFields fields(document, "sweep result");
  SweepResult read;
  read.name = fields.text("name");
  read.title = fields.text("title");
  for (const json& axis : fields.array("axes")) read.axes.push_back(axis_from(axis));
  read.seeds = fields.integers("seeds");
  if (read.seeds.empty()) throw std::invalid_argument("sweep result: \"seeds\" is empty");
  read.keys = texts(fields.array("keys"), "sweep result: \"keys\"");
  for (const json& measure : fields.array("measures")) {
    const JsonFields words(measure, "measure");
    read.measures.push_back({words.text("name"), words.text("label"), words.text("unit")});
  }
  ParsedConfig base = config_from_json(fields.object("base"));
  if (!base.problems.empty()) throw std::invalid_argument("sweep result: " + to_string(base.problems.front()));
  read.base = std::move(base.config);
  for (const json& row : fields.array("rows")) read.rows.push_back(row_from(row, read));
  for (const json& cell : fields.array("cells")) read.cells.push_back(cell_from(cell, read));
  check_order(read);
  result = std::move(read);
}

ReadSweepResult read_sweep_result(const std::filesystem::path& path) {
  std::error_code error;
  const auto file = std::filesystem::is_directory(path, error) ? path / "results.json" : path;
  ReadSweepResult read;
  const JsonFile content = read_json_file(file);
  if (content.problem) {
    read.problems.push_back(*content.problem);
    return read;
  }
  try {
    read.result = content.document.get<SweepResult>();
  } catch (const std::invalid_argument& fault) {
    read.problems.push_back({file.string(), fault.what()});
  }
  return read;
}

}  // namespace mambarium
