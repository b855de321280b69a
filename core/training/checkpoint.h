// Checkpoints: the two files of one step, and back.
//
//   step-000400.safetensors   the parameters, with the configuration, program version and step as metadata
//   step-000400.state         AdamW's moments (safetensors too), the step, the training losses since the last row, and
//   the
//                             checksum of the other file: both belong together
// Random numbers need no state: they are functions of the seed and the step. Equal runs write equal bytes, wherever
// their folders lie: run.out and all times are left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/models/sequence_model.h"
#include "core/training/adamw.h"

namespace mambarium {

// Where a run stands between two steps, besides parameters and moments.
struct TrainingProgress {
  std::int64_t step = 0;
  double loss_sum = 0;  // training losses since the last row
  std::int64_t loss_count = 0;
  double last_loss = std::numeric_limits<double>::quiet_NaN();
};

// Weights first, state last: a step whose state is there is complete. Throws TrainingError.
void write_checkpoint_files(const std::filesystem::path& run, const ExperimentConfig& config, SequenceModel& model,
                            AdamW& optimiser, const TrainingProgress& progress);

// Throws TrainingError naming the file and what is wrong with it; model and optimiser are untouched then.
TrainingProgress read_checkpoint_files(const std::filesystem::path& run, std::int64_t step, SequenceModel& model,
                                       AdamW& optimiser);

// For a fork: the weights and moments of every parameter that both have by name and shape, bit for bit; the others keep
// what they hold. Where the convolutions' windows differ, the taps of the tokens that both see are taken over and older
// ones are 0: a wider window is the same function. Throws as read_checkpoint_files, with model and optimiser untouched.
void read_shared_weights(const std::filesystem::path& run, std::int64_t step, SequenceModel& model, AdamW& optimiser);

}  // namespace mambarium
