// What `evaluate` says of the wiring of a model whose states are coupled; nothing of others, nor of less than three
// states, which have no triads.
#pragma once

#include <nlohmann/json.hpp>

#include "core/service/loaded_run.h"

namespace mambarium {

// "coupling": {"hard_share", "soft_share", "cycle_hard_share"} (core/analysis/coupling_census.h); without a motif the
// first two are null.
void add_coupling(nlohmann::json& document, const LoadedRun& run);
void print_coupling(const LoadedRun& run);

}  // namespace mambarium
