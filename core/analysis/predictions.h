// P(next = s) after every prefix of a token sequence, by a model or by an estimator: rows of S probabilities.
#pragma once

#include <cstdint>
#include <span>

#include "core/contract/tensor.h"
#include "core/estimators/estimators.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// Row t is the prediction after tokens[0..t]; [T, S]. Tokens must be states of the model: 0 .. S-1.
Tensor predictions(SequenceModel& model, std::span<const std::int32_t> tokens);
Tensor predictions(Estimator& estimator, std::span<const std::int32_t> tokens);  // resets it first

}  // namespace mambarium
