// A decoder on the test part of its recording, beside the ideal decoder.
#pragma once

#include <cstdint>

#include "core/contract/decoding_inspection.h"
#include "core/decoding/decoding_task.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// `longest_stretch`: windows of the test part whose answers are listed, from its first on, all of one day.
DecodingData inspect_decoding(SequenceModel& model, const DecodingTask& task, std::int64_t step,
                              std::int64_t longest_stretch = 240);
// Reads or simulates the recording again, which takes seconds. Throws std::invalid_argument for a configuration that
// decodes nothing, and as DecodingTask.
DecodingData inspect_decoding(SequenceModel& model, const ExperimentConfig& config, std::int64_t step);

}  // namespace mambarium
