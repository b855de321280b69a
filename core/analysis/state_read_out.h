// What a linear map reads out of the recurrent state: does the model count?
//
// The map goes from H of all layers and heads at once, as it is after token t (the convolutions' windows are no part of
// it), to the counts n_ij after token t, raw. It is fitted on 64 sequences beside the probes and measured on 64 others.
// How often each token came says much about how often each pair did (R^2 about 0.7 for a binary chain of order 1 and T
// = 128), so the R^2 from the state is compared with that from the tokens, and not with 0.
//
// Takes a second for 128 sequences of T = 512. Of sequences above 512 tokens (fewer where there are many contexts) it
// takes the beginning.
#pragma once

#include "core/contract/inspection.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// On the sequence request.probe beside the R^2. Throws std::invalid_argument, one sentence, for a probe, layer or head
// that is not there, for a model without a recurrent state, and for a state or a table of counts that is too large.
StateData inspect_state(SequenceModel& model, const ExperimentConfig& config, const InspectRequest& request,
                        std::int64_t step);

// The two R^2 of inspect_state alone. NaN, both, where inspect_state has none to give.
struct CountsReadOut {
  double from_state = 0, from_tokens = 0;
};
CountsReadOut counts_read_out(SequenceModel& model, const ExperimentConfig& config);

}  // namespace mambarium
