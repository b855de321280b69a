// Probe sequences: what panels look at a model with. Sequences of stream "probe" of the seed, so every model trained on
// the same task and seed is shown the same ones, and none of them was trained or tested on. A decoder is shown windows
// of the test part of its recording instead.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/tasks/sequence_batch.h"

namespace mambarium {

class DecodingTask;  // core/decoding/decoding_task.h

struct ProbeSequence {
  std::vector<std::int32_t> tokens;  // [T+1]: T inputs and the target of the last one
  std::vector<float> kernel;         // what it was drawn from, SequenceBatch::kernel()
  std::span<const std::int32_t> inputs() const { return std::span(tokens).first(tokens.size() - 1); }
};

// Number `probe` of the stream. Throws std::invalid_argument when `probe` is not in 0 .. probe_count-1.
ProbeSequence probe_sequence(const ExperimentConfig& config, std::int64_t probe);

// `count` sequences of the stream that are no probe themselves, from the `first` of them on; without kernels.
SequenceBatch beside_the_probes(const ExperimentConfig& config, std::int64_t first, std::int64_t count);

// Which window of the test part, 0 .. test_windows()-1, stands for a probe: the middle one of each of probe_count equal
// stretches. Throws as probe_sequence().
std::int64_t probe_window(const DecodingTask& recording, std::int64_t probe);

}  // namespace mambarium
