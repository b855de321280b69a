// JSON that names some settings of an experiment and leaves the others open: what presets, sweeps and configurations
// are read from.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

// One setting from a JSON value. A key that is not in the property table is a Problem like any other; on a problem the
// old value stays.
std::optional<Problem> set_from_json(ExperimentConfig& config, const std::string& key, const nlohmann::json& value);

// The settings a nested document names: {"task": {"order": 1}} gives "task.order" the value 1. What nests wrongly is a
// problem here; whether there is such a setting and what it may be is set_from_json()'s business.
struct NamedSettings {
  std::vector<std::pair<std::string, nlohmann::json>> settings;
  std::vector<Problem> problems;
};
NamedSettings settings_in(const nlohmann::json& document);

}  // namespace mambarium
