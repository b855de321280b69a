// Theorem 2 (paper 1, section 4.3): how many bits a recurrent model has to remember to predict a chain of order k.
//
// A model that reads tokens one by one into d numbers of p bits each, of any depth, and for long sequences is within
// epsilon of the add-1 estimator in every probability, has
//
//   d p >= S^k (1 - 3 epsilon) log2(1 / epsilon),   0 < epsilon < 1/3.
//
// The paper proves it for binary chains, S = 2, and leaves the base of the logarithm open; with p in bits it is 2. For
// larger alphabets it states growth with S^k alone: there the constant is that of the binary case, and a guide, not a
// proof. d counts the whole recurrent state, not d_model.
#pragma once

#include <cstdint>
#include <optional>

#include "core/contract/experiment_config.h"

namespace mambarium {

// The right-hand side, in bits; 0 where it says nothing (epsilon of 1/3 or more). epsilon > 0.
double lower_bound_bits(std::int64_t states, std::int64_t order, double epsilon);

// d: the numbers a model carries from one token to the next, H of all layers and heads and the windows of the
// convolutions. Empty for a kind of model whose memory grows with the sequence.
std::optional<std::int64_t> recurrent_state_numbers(const ExperimentConfig& config);

}  // namespace mambarium
