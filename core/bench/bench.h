// How many tokens a second this machine trains one experiment, measured on both engines in the same run. Two clocks:
// the wall's, and the processor time of this process, which a busy machine changes less. Not thread-safe: it sets the
// process's thread count (configure_runtime).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/bench/subject.h"
#include "core/contract/experiment_config.h"

namespace mambarium {

// One subject: tokens a second over its rounds.
struct BenchMeasurement {
  std::string subject;  // "training step, fused": a word for what, a word for how
  std::string covers;   // what is inside, in words
  double median = 0;    // of the rounds, by the wall clock
  double best = 0;
  double per_processor_second = 0;  // best round, by processor time
};

struct BenchReport {
  ExperimentConfig config;
  std::int64_t parameter_count = 0;
  std::vector<BenchMeasurement> measurements;
};

// The setting of paper 1 that the project's figures are given for: order 1, d_model = d_state = 8, expand 2, window 2,
// T = 512, B = 64, one thread.
ExperimentConfig bench_config();

// The whole training step (data, forward, backward, AdamW) on both engines; the selective scan alone, forward and
// backward, and Mamba-1's of the same size; the data generator. Of a model without kernels, its step on operators and
// the data. Throws std::invalid_argument when the configuration is
// not valid, std::runtime_error when a GPU fails.
BenchReport run_bench(const ExperimentConfig& config, const BenchOptions& options = {});

nlohmann::json to_json(const BenchReport& report);
std::string to_markdown(const BenchReport& report);  // a table, with the setting above it

}  // namespace mambarium
