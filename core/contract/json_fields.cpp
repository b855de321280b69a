#include "core/contract/json_fields.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/contract/text.h"

namespace mambarium {

using nlohmann::json;

JsonFile read_json_file(const std::filesystem::path& path) {
  constexpr std::uintmax_t largest = 64u << 20;
  const auto failed = [&](std::string message) {
    return JsonFile{nullptr, Problem{path.string(), std::move(message)}};
  };
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return failed("there is no such file");
  if (!std::filesystem::is_regular_file(path, error)) return failed("this is not a file");
  if (std::filesystem::file_size(path, error) > largest) return failed("too large to be a configuration or manifest");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) return failed("the file cannot be read");
  const std::string text = std::move(content).str();
  try {
    return {json::parse(text), std::nullopt};
  } catch (const json::parse_error& fault) {
    const TextPlace place = place_of(text, fault.byte > 0 ? fault.byte - 1 : 0);
    return failed("not valid JSON at line " + std::to_string(place.line) + ", column " + std::to_string(place.column));
  } catch (const json::out_of_range&) {
    return failed("a number in it is too large for a double");
  }
}

std::string shown(const json& value) {
  if (value.is_binary()) return "a run of bytes";
  if (value.is_object()) return "a map";
  if (value.is_array()) return "a list";
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  return value.dump();
}

namespace {

[[noreturn]] void refuse(const std::string& owner, const char* name, const json* found, const char* expected) {
  const std::string state = found == nullptr ? "is missing" : "is " + shown(*found);
  throw std::invalid_argument(owner + ": \"" + name + "\" " + state + ", it must be " + expected);
}

const json* find(const json& map, const char* name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &*found;
}

bool fits_int64(const json& value) {
  return value.is_number_integer() &&
         !(value.is_number_unsigned() &&
           value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

JsonFields::JsonFields(const json& map, std::string owner) : map_(map), owner_(std::move(owner)) {
  if (!map_.is_object()) throw std::invalid_argument(owner_ + ": " + shown(map_) + " stands where a map must be");
}

std::int64_t JsonFields::integer(const char* name) const {
  const json* value = find(map_, name);
  if (value == nullptr || !fits_int64(*value)) refuse(owner_, name, value, "a whole number");
  return value->get<std::int64_t>();
}

std::int64_t JsonFields::count(const char* name) const {
  const json* value = find(map_, name);
  if (value == nullptr || !fits_int64(*value) || value->get<std::int64_t>() < 0)
    refuse(owner_, name, value, "a whole number of at least 0");
  return value->get<std::int64_t>();
}

double JsonFields::number(const char* name) const {
  const json* value = find(map_, name);
  if (value != nullptr && value->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (value == nullptr || !value->is_number()) refuse(owner_, name, value, "a number");
  return value->get<double>();
}

bool JsonFields::boolean(const char* name) const {
  const json* value = find(map_, name);
  if (value == nullptr || !value->is_boolean()) refuse(owner_, name, value, "true or false");
  return value->get<bool>();
}

std::string JsonFields::text(const char* name) const {
  const json* value = find(map_, name);
  if (value == nullptr || !value->is_string()) refuse(owner_, name, value, "text");
  return value->get<std::string>();
}

const json& JsonFields::array(const char* name) const {
  const json* value = find(map_, name);
  if (value == nullptr || !value->is_array()) refuse(owner_, name, value, "a list");
  return *value;
}

const json& JsonFields::object(const char* name) const {
  const json* value = find(map_, name);
  if (value == nullptr || !value->is_object()) refuse(owner_, name, value, "a map");
  return *value;
}

const json& JsonFields::any(const char* name) const {
  const json* value = find(map_, name);
  if (value == nullptr) refuse(owner_, name, value, "there");
  return *value;
}

std::vector<std::int64_t> JsonFields::integers(const char* name) const {
  std::vector<std::int64_t> numbers;
  for (const json& value : array(name)) {
    if (!fits_int64(value)) refuse(owner_, name, &value, "a list of whole numbers");
    numbers.push_back(value.get<std::int64_t>());
  }
  return numbers;
}

std::vector<std::int32_t> JsonFields::tokens(const char* name) const {
  std::vector<std::int32_t> tokens;
  for (const std::int64_t value : integers(name)) {
    if (value < 0 || value > std::numeric_limits<std::int32_t>::max()) {
      const json found = value;
      refuse(owner_, name, &found, "a list of tokens, each of at least 0");
    }
    tokens.push_back(static_cast<std::int32_t>(value));
  }
  return tokens;
}

json number_or_null(double number) {
  return std::isfinite(number) ? json(number) : json(nullptr);
}

}  // namespace mambarium
