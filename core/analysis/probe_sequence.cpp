#include "core/analysis/probe_sequence.h"

#include <stdexcept>
#include <string>

#include "core/contract/inspection.h"
#include "core/decoding/decoding_task.h"
#include "core/estimators/known_task.h"
#include "core/random/stream.h"

namespace mambarium {

namespace {

SequenceBatch generated(const ExperimentConfig& config, std::int64_t first, std::int64_t count, bool with_kernels) {
  const Stream stream(static_cast<std::uint64_t>(config.integer("training.seed")), "probe");
  SequenceBatch batch;
  make_task(config, Split::test)->generate(stream, first, count, with_kernels, batch);
  return batch;
}

void check_probe(std::int64_t probe) {
  if (probe < 0 || probe >= probe_count)
    throw std::invalid_argument("probe " + std::to_string(probe) + " does not exist, there are 0 to " +
                                std::to_string(probe_count - 1));
}

}  // namespace

ProbeSequence probe_sequence(const ExperimentConfig& config, std::int64_t probe) {
  check_probe(probe);
  SequenceBatch batch = generated(config, probe, 1, true);
  const auto tokens = batch.sequence(0);
  return {{tokens.begin(), tokens.end()}, std::move(batch.kernels)};
}

SequenceBatch beside_the_probes(const ExperimentConfig& config, std::int64_t first, std::int64_t count) {
  return generated(config, probe_count + first, count, false);
}

std::int64_t probe_window(const DecodingTask& recording, std::int64_t probe) {
  check_probe(probe);
  return (2 * probe + 1) * recording.test_windows() / (2 * probe_count);
}

}  // namespace mambarium
