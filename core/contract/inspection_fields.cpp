#include "core/contract/inspection_fields.h"

#include <limits>
#include <stdexcept>

namespace mambarium {

using nlohmann::json;

void require(bool condition, const std::string& owner, const std::string& sentence) {
  if (!condition) throw std::invalid_argument(owner + ": " + sentence);
}

Tensor tensor_field(const JsonFields& fields, const char* name, std::size_t dimensions, const std::string& owner) {
  try {
    auto read = fields.any(name).get<Tensor>();
    if (read.shape.size() != dimensions)
      throw std::invalid_argument("its shape " + json(read.shape).dump() + " has not " + std::to_string(dimensions) +
                                  " dimensions");
    return read;
  } catch (const std::invalid_argument& fault) {
    throw std::invalid_argument(owner + ": \"" + name + "\": " + fault.what());
  }
}

std::vector<double> numbers_field(const JsonFields& fields, const char* name, const std::string& owner) {
  std::vector<double> read;
  for (const json& entry : fields.array(name)) {
    require(entry.is_number() || entry.is_null(), owner,
            "\"" + std::string(name) + "\" holds " + shown(entry) + ", which is no number");
    read.push_back(entry.is_null() ? std::numeric_limits<double>::quiet_NaN() : entry.get<double>());
  }
  return read;
}

json with_nulls(const std::vector<double>& numbers) {
  json list = json::array();
  for (const double number : numbers) list.push_back(number_or_null(number));
  return list;
}

}  // namespace mambarium
