#include "core/sweep/point_file.h"

#include <limits>
#include <map>

#include "core/contract/json_fields.h"

namespace mambarium {

using nlohmann::json;

namespace {

struct Value {
  double value = 0, standard_error = std::numeric_limits<double>::quiet_NaN();
};

Value measured(const JsonFields& evaluation, const char* name) {
  if (!evaluation.has(name)) return {std::numeric_limits<double>::quiet_NaN()};
  const JsonFields fields(evaluation.object(name), std::string("evaluation: \"") + name + "\"");
  return {fields.number("mean"), fields.number("standard_error")};
}

std::map<std::string, Value> measures_of(const json& document, const MetricsRow& last_row) {
  const JsonFields evaluation(document, "evaluation");
  const auto part = [&](const char* owner, const char* name) -> Value {
    if (!evaluation.has(owner)) return {std::numeric_limits<double>::quiet_NaN()};
    return {JsonFields(evaluation.object(owner), std::string("evaluation: \"") + owner + "\"").number(name)};
  };
  const double leak = evaluation.has("inner_product_leak") ? evaluation.number("inner_product_leak")
                                                           : std::numeric_limits<double>::quiet_NaN();
  return {{"gap_add_beta", measured(evaluation, "gap_add_beta")},
          {"gap_oracle", measured(evaluation, "gap_oracle")},
          {"model_loss", measured(evaluation, "model")},
          {"add_beta_loss", measured(evaluation, "add_beta")},
          {"oracle_loss", measured(evaluation, "oracle")},
          {"uniform_loss", {measured(evaluation, "uniform").value}},
          {"train_loss", {last_row.train_loss}},
          {"total_variation", measured(evaluation, "total_variation")},
          {"decay_ordinary", part("decay", "ordinary")},
          {"decay_switch", part("decay", "at_switch")},
          {"read_out_state", part("read_out", "state")},
          {"read_out_tokens", part("read_out", "tokens")},
          {"inner_product_leak", {leak}},
          {"accuracy", measured(evaluation, "accuracy")},
          {"r_squared", measured(evaluation, "r_squared")},
          {"accuracy_x4", measured(evaluation, "accuracy_x4")},
          {"accuracy_x16", measured(evaluation, "accuracy_x16")},
          {"accuracy_x64", measured(evaluation, "accuracy_x64")},
          {"parameter_count", {static_cast<double>(evaluation.count("parameter_count"))}}};
}

}  // namespace

std::string point_file_text(const SweepPoint& point, const json& evaluation, const MetricsRow& last_row) {
  const auto measures = measures_of(evaluation, last_row);
  json values = json::object(), standard_errors = json::object();
  for (const SweepMeasure& measure : sweep_measures()) {
    const Value& of_measure = measures.at(measure.name);
    values[measure.name] = number_or_null(of_measure.value);
    standard_errors[measure.name] = number_or_null(of_measure.standard_error);
  }
  json experiment = to_json(point.config), row = last_row;
  experiment.erase("run");
  row.erase("seconds");
  const json document = {{"point", point.id},
                         {"experiment", std::move(experiment)},
                         {"last_row", std::move(row)},
                         {"values", std::move(values)},
                         {"standard_errors", std::move(standard_errors)}};
  return document.dump(2) + "\n";
}

}  // namespace mambarium
