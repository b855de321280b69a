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

// Mean |b . c| over pairs of windows whose contexts differ, divided by the mean over those whose contexts agree: 0 for
// a model that counts exactly. The context of b's window are the k tokens before its newest one, that of c's window its
// last k. NaN where inspect_inner_products refuses, and for a window that holds no context.
double inner_product_leak(SequenceModel& model, const ExperimentConfig& config);

}  // namespace mambarium
