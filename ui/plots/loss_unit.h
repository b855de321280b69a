// What the losses of a run and its gaps are measured in, and what guessing costs there: both follow from its task.
// Losses in different units can stand in one plot, but neither a reference line nor a difference joins them.
#pragma once

#include <QString>

#include "core/contract/experiment_config.h"

namespace mambarium {

// loss_unit() (core/contract/yardsticks.h) for labels.
QString lossUnit(const ExperimentConfig& config);

// The loss of giving every answer the same probability: ln of the number of tokens, of a decoder of directions. NaN
// for decoded outputs, where there are no probabilities, and for windows from files: the files know how many labels
// there are.
double uniformLoss(const ExperimentConfig& config);

}  // namespace mambarium
