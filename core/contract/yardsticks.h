// Yardsticks: what the losses of a task are measured in, and what `mambarium-worker evaluate --json` calls the
// predictors that it puts beside a model. Pure functions of the settings; any thread.
#pragma once

#include <string>

#include "core/contract/experiment_config.h"

namespace mambarium {

// "nats per token"; "nats per answer" where one token of a sequence is scored; of a decoder "nats per window", or
// "variances" where outputs are decoded: squared deviations over the variance of an output in the train part.
std::string loss_unit(const ExperimentConfig& config);

// Keys, each with the loss of one predictor. The model's loss above it is "gap_" and the key, of the first two.
struct Yardsticks {
  std::string best;    // best_predictor_name()'s: "add_beta", "bayes", "recall", "ideal_decoder"
  std::string oracle;  // "oracle", which knows the chain; "" where no one can know more than the best predictor
  std::string same;    // the same answer to everything: "uniform"; of a decoder "uninformed" (of outputs, their means)
};
Yardsticks yardsticks(const ExperimentConfig& config);

}  // namespace mambarium
