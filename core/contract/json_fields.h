// Reading JSON that somebody else wrote: files, and fields of maps, with one clear sentence for what is wrong.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/contract/experiment_config.h"

namespace mambarium {

struct JsonFile {
  nlohmann::json document;         // null when there is a problem
  std::optional<Problem> problem;  // unreadable, too large or not JSON: path, line, column
};
JsonFile read_json_file(const std::filesystem::path& path);

std::string shown(const nlohmann::json& value);  // short and safe, for a message

// Fields of one map. Every getter throws std::invalid_argument: `<owner>: "step" is missing, it must be a whole
// number`,
// `<owner>: "step" is "x", it must be a whole number`. Numbers may be null, which is NaN.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& map, std::string owner);  // throws when it is no map

  bool has(const char* name) const { return map_.contains(name) && !map_.at(name).is_null(); }
  std::int64_t integer(const char* name) const;
  std::int64_t count(const char* name) const;  // an integer that is not negative
  double number(const char* name) const;
  bool boolean(const char* name) const;
  std::string text(const char* name) const;
  const nlohmann::json& array(const char* name) const;
  const nlohmann::json& object(const char* name) const;
  const nlohmann::json& any(const char* name) const;
  std::vector<std::int64_t> integers(const char* name) const;
  std::vector<std::int32_t> tokens(const char* name) const;

 private:
  const nlohmann::json& map_;
  std::string owner_;
};

nlohmann::json number_or_null(double number);  // NaN and the infinities have no JSON form

}  // namespace mambarium
