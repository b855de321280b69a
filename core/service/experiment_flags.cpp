#include "core/service/experiment_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/contract/preset.h"
#include "core/contract/resources.h"
#include "core/contract/text.h"
#include "core/service/command_error.h"
#include "core/service/help_text.h"

namespace mambarium {

namespace {

std::string type_name(const Property& property) {
  switch (property.type) {
    case PropertyType::boolean:
      return "on|off";
    case PropertyType::integer:
      return "N";
    case PropertyType::real:
      return "X";
    case PropertyType::choice: {
      std::string names;
      for (std::string_view choice : property.choices) names.append(names.empty() ? "" : "|").append(choice);
      return names;
    }
    case PropertyType::choice_set: {
      std::string names;
      for (std::string_view choice : property.choices) names.append(names.empty() ? "" : ",").append(choice);
      return names + "|none";
    }
    case PropertyType::text:
      return "TEXT";
  }
  return "";
}

std::string description(const Property& property) {
  std::string facts = "Default " + value_to_string(property.default_value);
  if (property.type == PropertyType::integer || property.type == PropertyType::real)
    facts += ", " + property_range_text(property);
  if (!property.unit.empty()) facts.append(" (").append(property.unit).append(")");
  return std::string(property.help) + " " + facts + ".";
}

// The few presets whose names begin most like this one.
std::string nearest_presets(const std::vector<Preset>& presets, const std::string& id) {
  constexpr std::size_t most = 5;
  const auto in_common = [&](const Preset& preset) {
    return std::ranges::mismatch(preset.id, id).in1 - preset.id.begin();
  };
  std::vector<Preset> sorted = presets;
  std::ranges::stable_sort(sorted, std::greater(), in_common);
  sorted.resize(std::min(sorted.size(), most));
  std::string names;
  for (const Preset& preset : sorted) names.append(names.empty() ? "" : ", ").append(preset.id);
  return names;
}

ParsedConfig config_of_preset(const std::string& id) {
  const LoadedPresets loaded = load_presets(preset_directory());
  const auto found = std::ranges::find(loaded.presets, id, &Preset::id);
  if (found != loaded.presets.end()) return {found->config, {}};
  ParsedConfig parsed;
  parsed.problems.push_back(
      {"--preset", in_quotes(id) + " is not one of the " + std::to_string(loaded.presets.size()) +
                       " presets, which are " +
                       (loaded.presets.empty() ? "missing" : nearest_presets(loaded.presets, id) + " and others") +
                       " in " + preset_directory().string()});
  // The one that was asked for may be a file that cannot be used.
  parsed.problems.insert(parsed.problems.end(), loaded.problems.begin(), loaded.problems.end());
  return parsed;
}

template <class Options>
std::vector<std::string> used(const Options& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options)
    if (option->count() > 0) names.push_back(option->get_name());
  return names;
}

}  // namespace

void ExperimentFlags::add_sources(CLI::App& command) {
  const auto add = [&](const char* flag, std::string& value, const char* type, const char* help) {
    auto* option = refuse_empty(command.add_option(flag, value, help));
    option->type_name(type)->group("Where the settings start from");
    for (CLI::Option* other : sources_) option->excludes(other);
    sources_.push_back(option);
    options_.push_back(option);
  };
  add("--config", config_file_, "FILE", "A file like experiment.json");
  add("--preset", preset_, "ID", "An experiment that ships with the program");
  add("--share", share_, "TEXT", "A share string, mambarium1:...");
}

void ExperimentFlags::add_settings(CLI::App& command, std::string_view prefix) {
  for (const Property& property : property_table()) {
    if (!property.key.starts_with(prefix)) continue;
    const std::string key(property.key);
    options_.push_back(command.add_option("--" + key, settings_[key], wrapped(description(property)))
                           ->type_name(type_name(property))
                           ->group(std::string(property.group))
                           ->take_last());
  }
}

std::vector<std::string> ExperimentFlags::given() const {
  return used(options_);
}

std::vector<std::string> ExperimentFlags::given_sources() const {
  return used(sources_);
}

ParsedConfig ExperimentFlags::source() const {
  if (!config_file_.empty()) return config_from_file(config_file_);
  if (!preset_.empty()) return config_of_preset(preset_);
  if (!share_.empty()) return config_from_share_string(share_);
  return {};
}

ExperimentConfig ExperimentFlags::config() const {
  return with_settings(source());
}

ExperimentConfig ExperimentFlags::config_over(const ExperimentConfig& base) const {
  return with_settings({base, {}});
}

ExperimentConfig ExperimentFlags::with_settings(ParsedConfig parsed) const {
  // A flag may repair what does not fit together in the file, so that is looked at again when all flags are in.
  const std::vector<Problem> before = parsed.config.validate();
  std::vector<Problem> problems;
  for (const Problem& problem : parsed.problems)
    if (std::ranges::count(before, problem.message, &Problem::message) == 0) problems.push_back(problem);
  for (const CLI::Option* option : options_) {
    const std::string key = option->get_name().substr(2);
    if (option->count() == 0 || !settings_.contains(key)) continue;
    if (auto problem = parsed.config.set_from_string(key, settings_.find(key)->second)) {
      problem->where.insert(0, "--");
      problems.push_back(*std::move(problem));
    }
  }
  for (Problem& problem : parsed.config.validate()) problems.push_back(std::move(problem));
  if (!problems.empty()) throw bad_input(problems);
  return std::move(parsed.config);
}

std::vector<std::string> ExperimentFlags::without_effect_in(const ExperimentConfig& config) const {
  std::vector<std::string> named;
  if (!config_file_.empty()) named = config_from_file(config_file_).named;
  // A whole experiment.json also holds what its author left alone.
  if (named.size() == property_table().size()) named.clear();
  for (const std::string& flag : given()) named.push_back(flag.substr(2));
  return without_effect(config, named);
}

void refuse_unknown_argument(const std::string& argument, const CLI::App& command) {
  const std::string name = argument.substr(0, argument.find('='));
  if (!name.starts_with("--"))
    throw bad_input(in_quotes(argument) + " is not expected here; mambarium-worker " + command.get_name() +
                    " --help shows what is");
  const auto nearest = nearest_key(std::string_view(name).substr(2));
  const bool has_it = nearest && command.get_option_no_throw("--" + std::string(*nearest)) != nullptr;
  throw bad_input("there is no flag " + name +
                  (has_it ? "; did you mean --" + std::string(*nearest) + "?"
                          : "; mambarium-worker " + command.get_name() + " --help shows them all"));
}

}  // namespace mambarium
