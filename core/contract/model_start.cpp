#include "core/contract/model_start.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace mambarium {

namespace {

std::string construction_list() {
  std::string list;
  for (const std::string& name : construction_names()) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::optional<std::string> size_problem(const ConstructionSettings& s) {
  if (s.name != "higher_order") {
    if (s.order == 1) return std::nullopt;
    return s.name + ": it has order 1, not " + std::to_string(s.order) + "; higher_order takes others";
  }
  constexpr std::int64_t most = 8;
  if ((s.states == 2 && s.order >= 1 && s.order <= most) || s.order == 2) return std::nullopt;
  return "higher_order: it is for 2 states and orders 1 to 8, or for order 2; not for " + std::to_string(s.states) +
         " states and order " + std::to_string(s.order);
}

struct RequiredSetting {
  std::string key, value;
};

std::vector<RequiredSetting> required_settings(const ConstructionSettings& s) {
  const bool higher = s.name == "higher_order", switching = s.name == "switching", binary = s.name == "theorem4";
  const auto contexts =
      static_cast<std::int64_t>(std::llround(std::pow(static_cast<double>(s.states), static_cast<double>(s.order))));
  std::vector<RequiredSetting> all = {
      {"model.kind", higher ? "mamba2" : "mamba_zero"},
      {"model.d_model", std::to_string(binary ? 2 : 2 * s.states + (switching ? 1 : 0))},
      {"model.d_state", std::to_string(higher ? contexts : s.states)},
      {"model.expand", "1"},
      {"model.layers", "1"},
      {"model.conv", binary ? "x,B" : "x,B,C"},
      {"model.d_conv", std::to_string(higher ? s.order + 1 : 2)},
      {"model.conv_filters", "per_channel"},
      {"model.decay", switching ? "learned" : "one"},
      {"model.readout", "l1"},
  };
  if (switching) all.push_back({"task.kind", "switching"});
  if (higher)
    for (const auto& [key, value] : {std::pair{"model.activation", "relu"},
                                     {"model.gate", "off"},
                                     {"model.norm", "none"},
                                     {"model.mlp", "none"},
                                     {"model.skip", "off"},
                                     {"model.coupling", "none"}})
      all.push_back({key, value});
  return all;
}

}  // namespace

const std::vector<std::string>& construction_names() {
  static const std::vector<std::string> names = {"theorem1", "theorem4", "higher_order", "switching"};
  return names;
}

std::optional<std::string> construction_problem(const ConstructionSettings& s) {
  if (std::ranges::find(construction_names(), s.name) == construction_names().end())
    return "there is no construction \"" + s.name + "\"; there are " + construction_list();
  if (!(s.beta > 0) || !std::isfinite(s.beta)) return s.name + ": beta must be a finite number above 0";
  if (s.states < 2) return s.name + ": it takes at least 2 states, not " + std::to_string(s.states);
  if (s.name == "theorem4") {
    if (s.states != 2) return "theorem4: it is for 2 states, not " + std::to_string(s.states) + "; theorem1 takes any";
    constexpr double least = 1e-12;  // the taps grow with its root
    if (!(s.epsilon >= least && s.epsilon < 1)) return "theorem4: epsilon must lie between 1e-12 and 1";
  }
  constexpr double least_p_switch = 1e-9;  // well above the read-out's floor
  if (s.name == "switching" && !(s.p_switch >= least_p_switch && s.p_switch < 1))
    return "switching: the probability of a switch must lie between 1e-9 and 1";
  return size_problem(s);
}

ExperimentConfig construction_config(const ConstructionSettings& settings) {
  if (const auto problem = construction_problem(settings)) throw std::invalid_argument(*problem);
  ExperimentConfig config;
  const auto set = [&](const std::string& key, const std::string& value) {
    if (const auto problem = config.set_from_string(key, value))
      throw std::invalid_argument(settings.name + ": " + to_string(*problem));
  };
  for (const RequiredSetting& setting : required_settings(settings)) set(setting.key, setting.value);
  set("task.states", std::to_string(settings.states));
  set("task.order", std::to_string(settings.order));
  return config;
}

std::optional<ConstructionSettings> start_of(const ExperimentConfig& config) {
  const std::string& name = config.text("model.start");
  if (name == "random" || !config.applies("model.start")) return std::nullopt;
  return ConstructionSettings{.name = name,
                              .states = config.integer("task.states"),
                              .order = config.integer("task.order"),
                              .beta = config.real("task.beta"),
                              .p_switch = config.real("task.p_switch")};
}

std::optional<Problem> start_problem(const ExperimentConfig& config) {
  const auto start = start_of(config);
  if (!start) return std::nullopt;
  if (const auto problem = construction_problem(*start)) return Problem{"model.start", *problem};
  std::string others;
  const auto demand = [&](const std::string& assignment) { others += (others.empty() ? "" : ", ") + assignment; };
  for (const RequiredSetting& setting : required_settings(*start))
    if (value_to_string(config.value(setting.key)) != setting.value) demand(setting.key + "=" + setting.value);
  if (switch_token_of(config) && start->name != "switching") demand("task.kind=markov");
  if (headdim_of(config) != d_inner_of(config)) demand("model.headdim=0");
  if (others.empty()) return std::nullopt;
  return Problem{"model.start",
                 start->name + " is a model of other settings; set " + others + ", or model.start=random"};
}

}  // namespace mambarium
