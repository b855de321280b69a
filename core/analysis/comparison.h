// A model against the best possible predictors, sequence by sequence: so that every number comes with its standard
// error.
//
// The same sequences and the same means as evaluate() of core/training/trainer.h, which a run computes for metrics.csv.
#pragma once

#include <cstdint>
#include <functional>

#include "core/contract/experiment_config.h"
#include "core/contract/measured.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// Losses and gaps are nats per token; every error is over sequences.
struct Comparison {
  std::int64_t sequences = 0;
  Measured model, add_beta, oracle;   // add_beta: the task's best predictor without the kernel (yardsticks().best)
  double uniform = 0;                 // log of the number of tokens, exactly
  Measured gap_add_beta, gap_oracle;  // of the differences per sequence: much surer than the losses
  // The total variation distance of the model's probabilities from the best predictor's, mean over all T positions:
  // half the sum of |dp| over the alphabet, |dp| of either token where there are two (paper 1, figures 1b and 7b).
  Measured total_variation;
};

// The first `sequences` (at least 2) of the configuration's test stream. `told` hears how many are done, from 0 on.
Comparison compare(SequenceModel& model, const ExperimentConfig& config, std::int64_t sequences,
                   const std::function<void(std::int64_t)>& told = {});

// Mean a_t over layers, heads and positions of the first `sequences` of the test stream. NaN where a model has no decay
// factors to learn (model.decay one, and kinds without), and at_switch where no switch token came.
struct DecayMeans {
  double ordinary = 0, at_switch = 0;
};
DecayMeans decay_means(SequenceModel& model, const ExperimentConfig& config, std::int64_t sequences);

}  // namespace mambarium
