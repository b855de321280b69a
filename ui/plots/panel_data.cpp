#include "ui/plots/panel_data.h"

#include <cmath>
#include <stdexcept>

#include "core/contract/tensor.h"

namespace mambarium {
namespace {

using nlohmann::json;

constexpr const char* no_current_run = "none";

std::invalid_argument bad(const std::string& where, const std::string& message) {
  return std::invalid_argument(where + ": " + message);
}

const json& field(const json& document, const char* name, const std::string& where) {
  if (!document.is_object()) throw bad(where, "must be an object");
  const auto found = document.find(name);
  if (found == document.end()) throw bad(where, "\"" + std::string(name) + "\" is missing");
  return *found;
}

std::string text(const json& document, const char* name, const std::string& where) {
  const json& value = field(document, name, where);
  if (!value.is_string()) throw bad(where + "." + name, "must be text");
  return value.get<std::string>();
}

std::int64_t count(const json& document, const char* name, const std::string& where, std::int64_t below) {
  const json& value = field(document, name, where);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() >= below)
    throw bad(where + "." + name, "must be a whole number from 0 to " + std::to_string(below - 1));
  return value.get<std::int64_t>();
}

const json& list(const json& document, const char* name, const std::string& where) {
  const json& value = field(document, name, where);
  if (!value.is_array()) throw bad(where + "." + name, "must be a list");
  return value;
}

RunSeries runFromRecipe(const json& document, const std::string& where) {
  constexpr std::int64_t most_styles = 1 << 20;
  RunSeries run;
  run.title = text(document, "title", where);
  run.folder = text(document, "folder", where);
  if (document.contains("parent")) run.parent = text(document, "parent", where);
  run.palette_index = static_cast<int>(count(document, "palette_index", where, most_styles));
  run.marker_index = static_cast<int>(count(document, "marker_index", where, most_styles));
  ParsedConfig parsed = config_from_json(field(document, "experiment", where));
  if (!parsed.problems.empty()) throw bad(where + ".experiment", to_string(parsed.problems.front()));
  run.config = std::move(parsed.config);
  for (const json& row : list(document, "rows", where)) {
    try {
      run.rows.push_back(row.get<MetricsRow>());
    } catch (const std::exception& fault) {
      throw bad(where + ".rows[" + std::to_string(run.rows.size()) + "]", fault.what());
    }
  }
  for (const json& pair : list(document, "train_losses", where)) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() ||
        !(pair[1].is_number() || pair[1].is_null()))
      throw bad(where + ".train_losses[" + std::to_string(run.train_losses.size()) + "]",
                "must be a pair of step and loss");
    run.train_losses.emplace_back(pair[0].get<std::int64_t>(),
                                  pair[1].is_null() ? std::nan("") : pair[1].get<double>());
  }
  return run;
}

std::size_t currentFromRecipe(const json& document, const std::string& where, std::size_t runs) {
  if (field(document, "current", where) == json(no_current_run)) return runs;
  return static_cast<std::size_t>(count(document, "current", where, static_cast<std::int64_t>(runs)));
}

}  // namespace

json to_recipe_json(const PanelData& data) {
  const bool shows_current = data.current < data.runs.size() || data.sweep;
  json document = {{"current", shows_current ? json(data.current) : json(no_current_run)}, {"runs", json::array()}};
  for (const RunSeries& run : data.runs) {
    json losses = json::array();
    for (const auto& [step, loss] : run.train_losses)
      losses.push_back({step, std::isfinite(loss) ? json(loss) : json(nullptr)});
    document["runs"].push_back({{"title", run.title},
                                {"folder", run.folder},
                                {"parent", run.parent},
                                {"palette_index", run.palette_index},
                                {"marker_index", run.marker_index},
                                {"experiment", to_json(run.config)},
                                {"rows", run.rows},
                                {"train_losses", std::move(losses)}});
  }
  if (data.inspected) document["inspected"] = readable_json(*data.inspected);
  for (const json& answer : data.earlier) document["earlier"].push_back(readable_json(answer));
  for (const auto& [folder, answer] : data.others) document["others"][folder] = readable_json(answer);
  if (data.sweep) document["sweep"] = to_recipe_json(*data.sweep);
  return document;
}

PanelData panel_data_from_recipe(const json& document) {
  const std::string where = "data";
  PanelData data;
  if (const json& runs = list(document, "runs", where); runs.empty() && document.contains("sweep")) {
    data.sweep = std::make_shared<const SweepData>(sweep_data_from_recipe(document["sweep"]));
    return data;
  }
  for (const json& run : list(document, "runs", where))
    data.runs.push_back(runFromRecipe(run, where + ".runs[" + std::to_string(data.runs.size()) + "]"));
  if (data.runs.empty()) throw bad(where + ".runs", "must hold at least one run");
  data.current = currentFromRecipe(document, where, data.runs.size());
  if (const auto found = document.find("inspected"); found != document.end()) {
    if (!found->is_object()) throw bad(where + ".inspected", "must be an object");
    data.inspected = *found;
  }
  if (document.contains("earlier"))
    for (const json& answer : list(document, "earlier", where)) data.earlier.push_back(answer);
  if (const auto found = document.find("others"); found != document.end()) {
    if (!found->is_object()) throw bad(where + ".others", "must be an object");
    for (const auto& [folder, answer] : found->items()) data.others[folder] = answer;
  }
  return data;
}

}  // namespace mambarium
