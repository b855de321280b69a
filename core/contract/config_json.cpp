#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/contract/experiment_config.h"
#include "core/contract/json_fields.h"
#include "core/contract/named_settings.h"
#include "core/contract/text.h"

namespace mambarium {

using nlohmann::json;

namespace {

std::pair<std::string, std::string> path_of(std::string_view key) {
  const std::size_t dot = key.find('.');
  return {std::string(key.substr(0, dot)), std::string(key.substr(dot + 1))};
}

bool is_section(std::string_view name) {
  const auto table = property_table();
  return std::any_of(table.begin(), table.end(), [&](const Property& property) {
    return property.key.starts_with(name) && property.key.substr(name.size()).starts_with('.');
  });
}

// JSON has one kind of number: 2000.0 is the whole number 2000. A choice may have numbers among its other names.
std::optional<PropertyValue> value_from_json(const Property& property, const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (!property.other_names.empty()) return shortest(number);
  constexpr double exact_below = 9007199254740992.0;
  if (property.type == PropertyType::integer && std::trunc(number) == number && std::abs(number) < exact_below)
    return static_cast<std::int64_t>(number);
  return number;
}

Problem unknown_setting(const std::string& where) {
  const auto nearest = nearest_key(where);
  return {where, "there is no such setting" + (nearest ? "; did you mean " + std::string(*nearest) + "?" : "")};
}

}  // namespace

json to_json(const ExperimentConfig& config) {
  json document = json::object();
  for (const Property& property : property_table()) {
    const auto [section, name] = path_of(property.key);
    std::visit([&](const auto& value) { document[section][name] = value; }, config.value(property.key));
  }
  return document;
}

std::optional<Problem> set_from_json(ExperimentConfig& config, const std::string& key, const json& value) {
  const Property* property = find_property(key);
  if (property == nullptr) return unknown_setting(key);
  auto native = value_from_json(*property, value);
  if (!native) return Problem{key, shown(value) + " is not " + property_range_text(*property)};
  return config.set(key, *std::move(native));
}

NamedSettings settings_in(const json& document) {
  NamedSettings named;
  if (!document.is_object()) {
    named.problems.push_back({"experiment", shown(document) + " is not a map of settings such as {\"task\": {...}}"});
    return named;
  }
  for (const auto& [section, settings] : document.items()) {
    if (!is_section(section)) {
      const auto [outer, inner] = path_of(section);
      if (find_property(section) != nullptr)
        named.problems.push_back({section, "settings nest: write {\"" + outer + "\": {\"" + inner + "\": ...}}"});
      else
        named.problems.push_back(unknown_setting(section));
    } else if (!settings.is_object()) {
      named.problems.push_back({section, shown(settings) + " is not a map of the settings of " + section});
    } else {
      for (const auto& [name, value] : settings.items()) named.settings.emplace_back(section + "." + name, value);
    }
  }
  return named;
}

ParsedConfig config_from_json(const json& document) {
  NamedSettings named = settings_in(document);
  ParsedConfig parsed;
  parsed.problems = std::move(named.problems);
  if (!document.is_object()) return parsed;
  for (const auto& [key, value] : named.settings) {
    if (auto problem = set_from_json(parsed.config, key, value))
      parsed.problems.push_back(*std::move(problem));
    else
      parsed.named.push_back(key);
  }
  for (Problem& problem : parsed.config.validate()) parsed.problems.push_back(std::move(problem));
  return parsed;
}

ParsedConfig config_from_file(const std::string& path) {
  ParsedConfig parsed;
  const JsonFile file = read_json_file(path);
  if (file.problem) {
    parsed.problems.push_back(*file.problem);
    return parsed;
  }
  parsed = config_from_json(file.document);
  for (Problem& problem : parsed.problems) problem.where = path + ": " + problem.where;
  return parsed;
}

}  // namespace mambarium
