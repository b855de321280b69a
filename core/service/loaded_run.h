// A trained model out of a run folder, at one of its checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/contract/experiment_config.h"
#include "core/contract/run_folder.h"
#include "core/models/sequence_model.h"

namespace mambarium {

struct LoadedRun {
  std::filesystem::path checkpoint;
  ExperimentConfig config;
  std::int64_t step = 0;
  std::unique_ptr<SequenceModel> model;
};

// `path` is a run folder or a checkpoint file inside one; `at` a step of it (empty: the newest). Sets the number of
// threads to the run's. Throws CommandError (bad input) with one sentence for what is missing, broken or does not fit.
LoadedRun load_run(const std::filesystem::path& path, std::optional<std::int64_t> at, Engine engine = Engine::fused);

// That step, once the run has a checkpoint of it; empty: its newest. Throws CommandError (bad input).
std::int64_t chosen_step(const RunFolder& run, std::optional<std::int64_t> at);

// "there is no checkpoint of step 137" with "choose one of 0, 100, 200", or the nearest of many.
struct MissingCheckpoint {
  std::string message, hint;
};
MissingCheckpoint missing_checkpoint(std::int64_t step, const std::vector<std::int64_t>& present);

}  // namespace mambarium
