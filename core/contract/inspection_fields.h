// Reading and writing what answers to inspections are made of. For the .cpp files of contract that hold them.
//
// `owner` begins every sentence: "decay data: ...". All throw std::invalid_argument.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/contract/json_fields.h"
#include "core/contract/tensor.h"

namespace mambarium {

void require(bool condition, const std::string& owner, const std::string& sentence);
Tensor tensor_field(const JsonFields& fields, const char* name, std::size_t dimensions, const std::string& owner);
std::vector<double> numbers_field(const JsonFields& fields, const char* name, const std::string& owner);  // null: NaN
nlohmann::json with_nulls(const std::vector<double>& numbers);

}  // namespace mambarium
