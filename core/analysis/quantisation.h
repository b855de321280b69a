// What a model loses when its memory is rounded: the measured side of the lower bound of Theorem 2
// (core/contract/lower_bound.h), which says how many bits it takes at least.
//
// The quantiser: every number of the recurrent state (H of all layers and heads, and what the convolutions' windows
// remember) takes one of 2^p values, spread evenly between the smallest and the largest that this very number had on 64
// other sequences, unrounded; it is moved to the nearest of them after every token, and the rounded one is what the
// next token meets. So the memory is d numbers of p bits, as the theorem counts it. Rounding carries on: counts that
// grow by less than half a level stand still.
#pragma once

#include "core/contract/inspection.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// p = 2 .. 16, and the float32 state as it is (bits 32), each on the same 64 sequences beside the probes, of up to 512
// tokens. About a second at T = 128. Throws std::invalid_argument, one sentence, for a model without a recurrent
// state.
QuantisationData inspect_quantisation(SequenceModel& model, const ExperimentConfig& config, std::int64_t step);

}  // namespace mambarium
