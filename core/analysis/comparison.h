// A model against the best possible predictors, sequence by sequence: so that every number comes with its standard
// error.
//
// The same sequences and the same means as evaluate() of core/training/trainer.h, which a run computes for metrics.csv.
#pragma once

#include <cstdint>

#include "core/contract/experiment_config.h"
#include "core/models/sequence_model.h"

namespace mambarium {

struct Measured {
  double mean = 0, standard_error = 0;  // nats per token, over sequences
};

struct Comparison {
  std::int64_t sequences = 0;
  Measured model, add_beta, oracle;   // add_beta: the task's best predictor without the kernel
  double uniform = 0;                 // log of the number of tokens, exactly
  Measured gap_add_beta, gap_oracle;  // of the differences per sequence: much surer than the losses
};

// The first `sequences` (at least 2) of the configuration's test stream.
Comparison compare(SequenceModel& model, const ExperimentConfig& config, std::int64_t sequences);

}  // namespace mambarium
