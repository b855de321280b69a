#include <nlohmann/json.hpp>

#include "core/contract/experiment_config.h"
#include "core/contract/text.h"

namespace mambarium {

namespace {

constexpr std::string_view prefix = "mambarium1:";
constexpr std::string_view hex_digits = "0123456789ABCDEF";

std::string escaped(std::string_view value) {
  std::string out;
  for (const char character : value) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == ';' || character == '%' || byte <= 0x20) {
      out += '%';
      out += hex_digits[byte >> 4];
      out += hex_digits[byte & 15];
    } else {
      out += character;
    }
  }
  return out;
}

std::optional<std::string> unescaped(std::string_view value) {
  std::string out;
  while (!value.empty()) {
    if (value.front() != '%') {
      out += value.front();
      value.remove_prefix(1);
      continue;
    }
    if (value.size() < 3) return std::nullopt;
    const std::size_t high = hex_digits.find(value[1]), low = hex_digits.find(value[2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    value.remove_prefix(3);
  }
  return out;
}

void read_assignment(std::string_view assignment, ParsedConfig& parsed) {
  const auto problem = [&](std::string_view where, std::string message) {
    parsed.problems.push_back({std::string(where), std::move(message)});
  };
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) return problem("share string", in_quotes(assignment) + " is not key=value");
  const std::string_view key = trimmed(assignment.substr(0, equals));
  if (find_property(key) == nullptr) {
    const auto nearest = nearest_key(key);
    const std::string hint = nearest ? "; did you mean " + std::string(*nearest) + "?" : "";
    return problem("share string", in_quotes(key) + " is not a setting" + hint);
  }
  const auto value = unescaped(assignment.substr(equals + 1));
  if (!value)
    return problem(key, in_quotes(assignment.substr(equals + 1)) + " has a % that two hex digits do not follow");
  if (auto refused = parsed.config.set_from_string(key, *value)) parsed.problems.push_back(*std::move(refused));
}

}  // namespace

std::string share_string(const ExperimentConfig& config) {
  std::string assignments;
  for (const Property& property : property_table()) {
    const PropertyValue& value = config.value(property.key);
    if (value == property.default_value) continue;
    if (!assignments.empty()) assignments += ';';
    assignments += std::string(property.key) + '=' + escaped(value_to_string(value));
  }
  return std::string(prefix) + assignments;
}

ParsedConfig config_from_share_string(std::string_view text) {
  ParsedConfig parsed;
  std::string_view rest = trimmed(text);
  if (!rest.starts_with(prefix)) {
    parsed.problems.push_back({"share string", in_quotes(rest) + " does not begin with " + in_quotes(prefix)});
    return parsed;
  }
  rest.remove_prefix(prefix.size());
  if (!rest.empty())
    for (std::string_view assignment : split(rest, ';')) read_assignment(assignment, parsed);
  for (Problem& problem : parsed.config.validate()) parsed.problems.push_back(std::move(problem));
  return parsed;
}

}  // namespace mambarium
