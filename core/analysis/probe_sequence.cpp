#include "core/analysis/probe_sequence.h"

#include <stdexcept>
#include <string>

#include "core/contract/inspection.h"
#include "core/estimators/known_task.h"
#include "core/random/stream.h"

namespace mambarium {

ProbeSequence probe_sequence(const ExperimentConfig& config, std::int64_t probe) {
  if (probe < 0 || probe >= probe_count)
    throw std::invalid_argument("probe " + std::to_string(probe) + " does not exist, there are 0 to " +
                                std::to_string(probe_count - 1));
  const Stream stream(static_cast<std::uint64_t>(config.integer("training.seed")), "probe");
  SequenceBatch batch;
  make_task(config, Split::test)->generate(stream, probe, 1, true, batch);
  const auto tokens = batch.sequence(0);
  return {{tokens.begin(), tokens.end()}, std::move(batch.kernels)};
}

}  // namespace mambarium
