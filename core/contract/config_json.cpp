#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/contract/experiment_config.h"
#include "core/contract/json_fields.h"
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

// JSON has one kind of number: 2000.0 is the whole number 2000.
std::optional<PropertyValue> value_from_json(const Property& property, const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  constexpr double exact_below = 9007199254740992.0;
  if (property.type == PropertyType::integer && std::trunc(number) == number && std::abs(number) < exact_below)
    return static_cast<std::int64_t>(number);
  return number;
}

Problem unknown_setting(const std::string& where) {
  const auto nearest = nearest_key(where);
  return {where, "there is no such setting" + (nearest ? "; did you mean " + std::string(*nearest) + "?" : "")};
}

void read_setting(const std::string& key, const json& value, ParsedConfig& parsed) {
  const Property* property = find_property(key);
  if (property == nullptr) {
    parsed.problems.push_back(unknown_setting(key));
    return;
  }
  auto native = value_from_json(*property, value);
  if (!native) {
    parsed.problems.push_back({key, shown(value) + " is not " + property_range_text(*property)});
    return;
  }
  if (auto problem = parsed.config.set(key, *std::move(native))) parsed.problems.push_back(*std::move(problem));
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

ParsedConfig config_from_json(const json& document) {
  ParsedConfig parsed;
  if (!document.is_object()) {
    parsed.problems.push_back({"experiment", shown(document) + " is not a map of settings such as {\"task\": {...}}"});
    return parsed;
  }
  for (const auto& [section, settings] : document.items()) {
    if (!is_section(section)) {
      const auto [outer, inner] = path_of(section);
      if (find_property(section) != nullptr)
        parsed.problems.push_back({section, "settings nest: write {\"" + outer + "\": {\"" + inner + "\": ...}}"});
      else
        parsed.problems.push_back(unknown_setting(section));
    } else if (!settings.is_object()) {
      parsed.problems.push_back({section, shown(settings) + " is not a map of the settings of " + section});
    } else {
      for (const auto& [name, value] : settings.items()) read_setting(section + "." + name, value, parsed);
    }
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
