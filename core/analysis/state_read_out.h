// What a linear map reads out of the recurrent state: does the model count?
//
// The map goes from H of all layers and heads at once, as it is after token t (the convolutions' windows are no part of
// it), to the counts n_ij after token t, raw. It is fitted on 64 sequences beside the probes and measured on 64 others.
// How often each token came says much about how often each pair did (R^2 about 0.7 for a binary chain of order 1 and T
// = 128), so r_squared is compared with that, r_squared_tokens, and not with 0.
#pragma once

#include "core/contract/inspection.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// Steps through 129 sequences token by token: 0.2 s at T = 128. Of sequences above 512 tokens (fewer where there are
// many contexts) it takes the beginning. Throws std::invalid_argument, one sentence, for a probe, layer or head that
// is not there, for a model without a recurrent state, and for a state or a table of counts that is too large.
StateData inspect_state(SequenceModel& model, const ExperimentConfig& config, const InspectRequest& request,
                        std::int64_t step);

}  // namespace mambarium
