#include "core/contract/experiment_config.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>

#include "core/contract/text.h"

namespace mambarium {

std::string to_string(const Problem& problem) {
  return problem.where.empty() ? problem.message : problem.where + ": " + problem.message;
}

std::string to_string(std::span<const Problem> problems) {
  std::string lines;
  for (const Problem& problem : problems) lines += to_string(problem) + "\n";
  return lines;
}

namespace {

std::size_t index_of(std::string_view key) {
  const Property* property = find_property(key);
  if (property == nullptr) throw std::logic_error("no setting is called " + in_quotes(key));
  return static_cast<std::size_t>(property - property_table().data());
}

const Property& property_of(std::string_view key) {
  return property_table()[index_of(key)];
}

template <class Type>
const Type& typed(const PropertyValue& value, std::string_view key) {
  const Type* held = std::get_if<Type>(&value);
  if (held == nullptr) throw std::logic_error("the setting " + in_quotes(key) + " was read as the wrong type");
  return *held;
}

std::vector<std::string_view> set_items(std::string_view list) {
  std::vector<std::string_view> items;
  for (std::string_view item : split(list, ',')) items.push_back(trimmed(item));
  return items;
}

// The set in the table's order, or nothing when an item is not one of the choices.
std::optional<std::string> normalised_set(const Property& property, std::string_view list) {
  const auto items = set_items(list);
  if (items.size() == 1 && items.front() == "none") return "none";
  const auto known = [&](std::string_view item) { return std::ranges::count(property.choices, item) > 0; };
  if (!std::ranges::all_of(items, known)) return std::nullopt;
  std::string normalised;
  for (std::string_view choice : property.choices) {
    if (std::ranges::count(items, choice) == 0) continue;
    if (!normalised.empty()) normalised += ',';
    normalised += choice;
  }
  return normalised;
}

bool in_range(const Property& property, double number) {
  return std::isfinite(number) && number <= property.maximum &&
         (property.minimum_excluded ? number > property.minimum : number >= property.minimum);
}

// The choice that a text names, by itself or by another name.
std::optional<std::string> named_choice(const Property& property, std::string_view text) {
  if (std::ranges::count(property.choices, text) > 0) return std::string(text);
  const auto lower = [](char character) { return std::tolower(static_cast<unsigned char>(character)); };
  for (const auto& [name, choice] : property.other_names)
    if (std::ranges::equal(name, text, {}, lower, lower)) return std::string(choice);
  return std::nullopt;
}

// The value as it is stored, or nothing when the property does not allow it.
std::optional<PropertyValue> accepted(const Property& property, PropertyValue value) {
  switch (property.type) {
    case PropertyType::boolean:
      if (std::holds_alternative<bool>(value)) return value;
      return std::nullopt;
    case PropertyType::integer: {
      const auto* integer = std::get_if<std::int64_t>(&value);
      if (integer == nullptr || !in_range(property, static_cast<double>(*integer))) return std::nullopt;
      return value;
    }
    case PropertyType::real: {
      if (const auto* integer = std::get_if<std::int64_t>(&value)) value = static_cast<double>(*integer);
      const auto* real = std::get_if<double>(&value);
      if (real == nullptr || !in_range(property, *real)) return std::nullopt;
      return value;
    }
    case PropertyType::choice: {
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr) return std::nullopt;
      return named_choice(property, *text);
    }
    case PropertyType::choice_set: {
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr) return std::nullopt;
      return normalised_set(property, *text);
    }
    case PropertyType::text: {
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr || trimmed(*text).empty() || !is_one_line_of_utf8(*text)) return std::nullopt;
      return value;
    }
  }
  return std::nullopt;
}

std::optional<bool> boolean_from(std::string_view word) {
  for (std::string_view yes : {"on", "true", "yes", "1"})
    if (word == yes) return true;
  for (std::string_view no : {"off", "false", "no", "0"})
    if (word == no) return false;
  return std::nullopt;
}

std::optional<PropertyValue> value_from(const Property& property, std::string_view typed_text) {
  const std::string_view word = trimmed(typed_text);
  switch (property.type) {
    case PropertyType::boolean:
      if (const auto value = boolean_from(word)) return *value;
      return std::nullopt;
    case PropertyType::integer: {
      if (const auto value = integer_from(word)) return *value;
      // "1e4" steps: a whole number, written as people write large ones.
      constexpr double exact_below = 9007199254740992.0;
      const auto real = real_from(word);
      if (!real || std::trunc(*real) != *real || std::abs(*real) >= exact_below) return std::nullopt;
      return static_cast<std::int64_t>(*real);
    }
    case PropertyType::real:
      if (const auto value = real_from(word)) return *value;
      return std::nullopt;
    default:
      return std::string(word);
  }
}

Problem refusal(const Property& property, const std::string& shown_value) {
  return {std::string(property.key), shown_value + " is not " + property_range_text(property)};
}

// What keeps a setting from having an effect: one fact for each clause of its condition that does not hold, of the
// alternative that has the fewest of them (of several, of all of these). Empty where it has one.
std::vector<std::string> obstacles_to(const ExperimentConfig& config, std::string_view key);

std::vector<std::string> obstacles_in(const ExperimentConfig& config, std::string_view clause) {
  const bool negated = clause.find("!=") != std::string_view::npos;
  const std::size_t equals = clause.find(negated ? "!=" : "=");
  const std::string_view key = trimmed(clause.substr(0, equals));
  const std::string_view expected = trimmed(clause.substr(equals + (negated ? 2 : 1)));
  if (auto obstacles = obstacles_to(config, key); !obstacles.empty()) return obstacles;
  const std::string value = value_to_string(config.value(key));
  if ((value == expected) != negated) return {};
  return {std::string(key) + " is " + value};
}

void add_new(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& one : more)
    if (std::ranges::count(all, one) == 0) all.push_back(one);
}

std::vector<std::string> obstacles_to(const ExperimentConfig& config, std::string_view key) {
  const std::string_view condition = property_of(key).applies_when;
  if (condition.empty()) return {};
  std::vector<std::string> fewest;
  std::size_t count = 0;
  for (const std::string_view clauses : split(condition, '|')) {
    std::vector<std::string> obstacles;
    for (const std::string_view clause : split(clauses, '&')) add_new(obstacles, obstacles_in(config, clause));
    if (obstacles.empty()) return {};
    if (fewest.empty() || obstacles.size() < count) {
      count = obstacles.size();
      fewest = std::move(obstacles);
    } else if (obstacles.size() == count) {
      add_new(fewest, obstacles);
    }
  }
  return fewest;
}

}  // namespace

ExperimentConfig::ExperimentConfig() {
  values_.reserve(property_table().size());
  for (const Property& property : property_table()) values_.push_back(property.default_value);
}

const PropertyValue& ExperimentConfig::value(std::string_view key) const {
  return values_[index_of(key)];
}
bool ExperimentConfig::boolean(std::string_view key) const {
  return typed<bool>(value(key), key);
}
std::int64_t ExperimentConfig::integer(std::string_view key) const {
  return typed<std::int64_t>(value(key), key);
}
double ExperimentConfig::real(std::string_view key) const {
  return typed<double>(value(key), key);
}
const std::string& ExperimentConfig::text(std::string_view key) const {
  return typed<std::string>(value(key), key);
}

bool ExperimentConfig::includes(std::string_view key, std::string_view item) const {
  const Property& property = property_of(key);
  if (property.type != PropertyType::choice_set || std::ranges::count(property.choices, item) == 0)
    throw std::logic_error(in_quotes(item) + " is not an item of the setting " + in_quotes(key));
  return std::ranges::count(set_items(text(key)), item) > 0;
}

std::optional<Problem> ExperimentConfig::set(std::string_view key, PropertyValue value) {
  const std::size_t index = index_of(key);
  const Property& property = property_table()[index];
  const bool is_text = std::holds_alternative<std::string>(value);
  const std::string shown = is_text ? in_quotes(std::get<std::string>(value)) : value_to_string(value);
  auto stored = accepted(property, std::move(value));
  if (!stored) return refusal(property, shown);
  values_[index] = *std::move(stored);
  return std::nullopt;
}

std::optional<Problem> ExperimentConfig::set_from_string(std::string_view key, std::string_view typed_text) {
  const Property& property = property_of(key);
  auto value = value_from(property, typed_text);
  if (!value) return refusal(property, in_quotes(typed_text));
  return set(key, *std::move(value));
}

bool ExperimentConfig::applies(std::string_view key) const {
  return obstacles_to(*this, key).empty();
}

std::vector<std::string> without_effect(const ExperimentConfig& config, std::span<const std::string> keys) {
  std::vector<std::string> sentences;
  for (const Property& property : property_table()) {
    if (std::ranges::count(keys, property.key) == 0 || config.value(property.key) == property.default_value) continue;
    std::string reasons;
    for (const std::string& obstacle : obstacles_to(config, property.key))
      reasons += (reasons.empty() ? "" : " and ") + obstacle;
    if (!reasons.empty()) sentences.push_back(std::string(property.key) + " has no effect here: " + reasons + ".");
  }
  return sentences;
}

std::string value_to_string(const PropertyValue& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "on" : "off";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return shortest(*real);
  return std::get<std::string>(value);
}

std::string property_range_text(const Property& property) {
  std::string choices;
  for (std::string_view choice : property.choices) choices += (choices.empty() ? "" : ", ") + std::string(choice);
  const std::string from = shortest(property.minimum), to = shortest(property.maximum);
  switch (property.type) {
    case PropertyType::boolean:
      return "on or off";
    case PropertyType::integer:
      return "a whole number from " + from + " to " + to;
    case PropertyType::real:
      return property.minimum_excluded ? "a number above " + from + " and up to " + to
                                       : "a number from " + from + " to " + to;
    case PropertyType::choice:
      if (!property.other_names_text.empty()) choices.append(", ").append(property.other_names_text);
      return property.choices.size() == 1 ? choices : "one of " + choices;
    case PropertyType::choice_set:
      return "none or any of " + choices;
    case PropertyType::text:
      return "one line of text";
  }
  return "";
}

}  // namespace mambarium
