// The stationary distribution of a Markov chain of order k over S states, over its contexts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mambarium {

// kernel: S^k rows of S probabilities, the oldest symbol of a context the most significant. Returns S^k probabilities
// that sum to 1. By the elimination of Grassmann, Taksar and Heyman (Operations Research 33, 1985), which subtracts
// nothing and so loses no digits; transitions of probability 0 count as 1e-18, so that a chain that falls apart into
// several has one answer too. S^k cubed operations.
std::vector<double> stationary_distribution(std::span<const double> kernel, std::int64_t states);

}  // namespace mambarium
