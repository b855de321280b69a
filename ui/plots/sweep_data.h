// SweepData: what the figures of a sweep draw. Its results so far, and, where curves are wanted, the evaluations of its
// runs.
//
// A value that many hands hold and nobody changes: panels share it by pointer, and another pointer is another result.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/contract/metrics.h"
#include "core/contract/sweep_result.h"

namespace mambarium {

struct SweepData {
  std::string folder;                           // where the numbers come from, "" when not on disk
  SweepResult result;                           // rows that are still to come hold NaN
  std::size_t done = 0;                         // rows that are there
  std::vector<std::vector<MetricsRow>> curves;  // metrics.csv of every row's run; empty: not read
};

nlohmann::json to_recipe_json(const SweepData& data);
SweepData sweep_data_from_recipe(const nlohmann::json& document);  // throws std::invalid_argument, one sentence

}  // namespace mambarium
