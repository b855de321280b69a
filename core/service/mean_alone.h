// A number of `evaluate --json` without an error of its own: of one test set whose sequences are not told apart, or
// whose windows overlap and so say nothing of an error.
#pragma once

#include <nlohmann/json.hpp>

#include "core/contract/json_fields.h"

namespace mambarium {

inline nlohmann::json mean_alone(double mean) {
  return {{"mean", number_or_null(mean)}, {"standard_error", nullptr}};
}

}  // namespace mambarium
