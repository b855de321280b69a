// The wiring of a whole model: the triads of its couplings M = k P Q, as means over all of them, one of every layer or
// one of every channel.
#pragma once

#include <optional>

#include "core/contract/experiment_config.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// Shares of what model.motif_shares says, all triples or the connected ones. Hard: an edge is there or not (M_ij^2 >
// theta). Soft: as the motif loss counts.
struct CouplingCensus {
  double hard_share = 0, soft_share = 0;  // of the motifs that are asked for, together; NaN where none is
  double cycle_hard_share = 0;            // of 030C, which no coupling of rank 1 has
};
// None where the states of the model are not coupled.
std::optional<CouplingCensus> coupling_census(SequenceModel& model, const ExperimentConfig& config);

}  // namespace mambarium
