// Constructions as settings: what each is for, and what a configuration must say for a model to start as one
// (model.start). The weights are in core/theory/constructions.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

struct ConstructionSettings {
  std::string name;         // one of construction_names()
  std::int64_t states = 2;  // S; of switching: the ordinary ones, without the switch token
  std::int64_t order = 1;   // k, of higher_order alone; the others have order 1
  double beta = 1;          // > 0
  double epsilon = 0.01;    // of theorem4: 1e-12 <= epsilon < 1
  double p_switch = 0.01;   // of switching: 1e-9 <= p < 1
};

const std::vector<std::string>& construction_names();

// One sentence naming the value and what would be right; nothing when there is such a construction.
std::optional<std::string> construction_problem(const ConstructionSettings& settings);

// The configuration of such a model: defaults, but for what the construction needs. Throws std::invalid_argument with
// construction_problem(), or with the setting whose range it leaves.
ExperimentConfig construction_config(const ConstructionSettings& settings);

// The construction that model.start names, for the configuration's task, theorem4 with epsilon 0.01; nothing for
// random, and where the setting has no effect.
std::optional<ConstructionSettings> start_of(const ExperimentConfig& config);

// What keeps the configuration's model from starting as that construction: one sentence with all settings that would
// have to be others. Part of ExperimentConfig::validate().
std::optional<Problem> start_problem(const ExperimentConfig& config);

}  // namespace mambarium
