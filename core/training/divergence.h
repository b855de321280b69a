// Why a training step cannot be used: the one sentence of a loss or gradient that is not finite.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/training/adamw.h"
#include "core/training/training_error.h"

namespace mambarium {

struct Parameter;

// Called when the loss, or the norm of all gradients, of step `step` (counted from 1) is not finite. Names the
// parameter that is to blame: the first with such a value, else the first with such a gradient, else the one with the
// largest value.
TrainingError divergence(std::int64_t step, double loss, const std::vector<Parameter>& parameters,
                         std::span<const OptimisedBuffer> buffers, double learning_rate);

// The first parameter with a value that is not finite, or nullptr.
const Parameter* first_not_finite(const std::vector<Parameter>& parameters, std::span<const OptimisedBuffer> buffers);

}  // namespace mambarium
