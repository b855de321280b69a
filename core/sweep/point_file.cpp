#include "core/sweep/point_file.h"

#include <limits>
#include <map>

#include "core/contract/json_fields.h"
#include "core/contract/yardsticks.h"

namespace mambarium {

using nlohmann::json;

namespace {

struct Value {
  double value = 0, standard_error = std::numeric_limits<double>::quiet_NaN();
};

constexpr Value nothing{std::numeric_limits<double>::quiet_NaN()};

Value measured(const JsonFields& evaluation, const std::string& name) {
  const JsonFields fields(evaluation.object(name.c_str()), "evaluation: \"" + name + "\"");
  return {fields.number("mean"), fields.number("standard_error")};
}

// What is inside a model of a chain, which an evaluation of another task says nothing of.
void add_inside(const JsonFields& evaluation, bool of_a_chain, std::map<std::string, Value>& measures) {
  const auto part = [&](const char* owner, const char* name) -> Value {
    if (!of_a_chain) return nothing;
    return {JsonFields(evaluation.object(owner), std::string("evaluation: \"") + owner + "\"").number(name)};
  };
  measures["total_variation"] = of_a_chain ? measured(evaluation, "total_variation") : nothing;
  measures["decay_ordinary"] = part("decay", "ordinary");
  measures["decay_switch"] = part("decay", "at_switch");
  measures["read_out_state"] = part("read_out", "state");
  measures["read_out_tokens"] = part("read_out", "tokens");
  measures["inner_product_leak"] = of_a_chain ? Value{evaluation.number("inner_product_leak")} : nothing;
}

// What only models whose states are coupled have.
void add_coupling(const JsonFields& evaluation, const std::optional<WarmUpRecord>& warm_up,
                  std::map<std::string, Value>& measures) {
  measures["motif_warm_up_steps"] = warm_up ? Value{warm_up->steps} : nothing;
  measures["motif_warm_up_reached"] = warm_up ? Value{warm_up->reached} : nothing;
  const std::pair<const char*, const char*> shares[] = {
      {"motif_hard_share", "hard_share"}, {"motif_soft_share", "soft_share"}, {"cycle_hard_share", "cycle_hard_share"}};
  for (const auto& [measure, name] : shares)
    measures[measure] = evaluation.has("coupling")
                            ? Value{JsonFields(evaluation.object("coupling"), "evaluation: \"coupling\"").number(name)}
                            : nothing;
}

std::map<std::string, Value> measures_of(const ExperimentConfig& config, const json& document,
                                         const MetricsRow& last_row, const std::optional<WarmUpRecord>& warm_up) {
  const JsonFields evaluation(document, "evaluation");
  const auto [best, known, same] = yardsticks(config);
  const std::string& oracle = known.empty() ? best : known;
  std::map<std::string, Value> measures = {
      {"gap_add_beta", measured(evaluation, "gap_" + best)},
      {"gap_oracle", measured(evaluation, "gap_" + oracle)},
      {"model_loss", measured(evaluation, "model")},
      {"add_beta_loss", measured(evaluation, best)},
      {"oracle_loss", measured(evaluation, oracle)},
      {"uniform_loss", {measured(evaluation, same).value}},
      {"train_loss", {last_row.train_loss}},
      {"parameter_count", {static_cast<double>(evaluation.count("parameter_count"))}}};
  for (const char* const name : {"accuracy", "accuracy_x4", "accuracy_x16", "accuracy_x64", "r_squared"})
    measures[name] = evaluation.has(name) ? measured(evaluation, name) : nothing;
  measures["accuracy_below_ideal"] =
      evaluation.has("ideal_accuracy")
          ? Value{measured(evaluation, "ideal_accuracy").value - measures["accuracy"].value}
          : nothing;
  add_coupling(evaluation, warm_up, measures);
  add_inside(evaluation, !evaluation.has("accuracy") && !evaluation.has("r_squared"), measures);
  return measures;
}

}  // namespace

std::string point_file_text(const SweepPoint& point, const json& evaluation, const MetricsRow& last_row,
                            const std::optional<WarmUpRecord>& warm_up) {
  const auto measures = measures_of(point.config, evaluation, last_row, warm_up);
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
