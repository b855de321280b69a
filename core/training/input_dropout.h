// Input dropout: a share of a training batch's numbers set to 0, and the others raised to make up for it.
//
// Which ones is a pure function of (stream, step, place in the batch), so a run that was stopped and resumed leaves out
// the same. Evaluation never does.
#pragma once

#include <cstdint>
#include <span>

#include "core/random/stream.h"

namespace mambarium {

// numbers[i] becomes 0 with probability `share` (at least 0, below 1; to within 2^-32), else numbers[i] / (1 - share).
void drop_inputs(std::span<float> numbers, double share, const Stream& stream, std::int64_t step);

}  // namespace mambarium
