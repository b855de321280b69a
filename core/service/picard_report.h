// What `evaluate --picard K` says of a coupled model: its numbers by K Picard passes beside those of the recurrence.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/models/coupled_model.h"
#include "core/service/loaded_run.h"
#include "core/training/trainer.h"

namespace mambarium {

struct PicardComparison {
  Evaluation exact, picard;  // on the run's test set
  PicardEvaluation passes;   // how many, and the largest errors of any layer
};

// `passes` is what the command line said: nothing of nothing. Throws CommandError (bad input), one sentence, for a
// number out of 1 to 16 and for a model that is not coupled or has no such passes. The model is as before when it
// returns.
std::optional<PicardComparison> compare_picard(const LoadedRun& run, std::optional<std::int64_t> passes,
                                               std::int64_t sequences);

// "picard": {"passes", "loss", "exact_loss", "accuracy", "exact_accuracy", "r_squared", "exact_r_squared",
// "output_error", "state_error"}; null where the task has no such number.
void add_picard(nlohmann::json& document, const std::optional<PicardComparison>& comparison);
void print_picard(const std::optional<PicardComparison>& comparison);

}  // namespace mambarium
