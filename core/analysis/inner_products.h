// b . c between all windows of tokens: which past is written where the present reads (paper 1, figure 5).
#pragma once

#include "core/contract/inspection.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// Of the first layer, where b and c depend on a window of tokens alone; above it they depend on the whole past, and
// the question is refused. The alphabet is all tokens the model reads, a switch token too. Without any convolution the
// window is 1. Throws std::invalid_argument, one sentence; also for more than most_windows windows.
InnerProductData inspect_inner_products(SequenceModel& model, const ExperimentConfig& config, std::int64_t layer,
                                        std::int64_t step);

}  // namespace mambarium
