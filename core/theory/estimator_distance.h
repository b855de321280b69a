// How far a model's probabilities are from an estimator's, after every prefix of every sequence.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/estimators/estimators.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// Sequences of one length, one after the other.
struct TokenTable {
  std::int64_t length = 0;
  std::vector<std::int32_t> tokens;  // [count, length]
  std::int64_t count() const { return std::ssize(tokens) / length; }
  std::span<const std::int32_t> sequence(std::int64_t index) const;
};

// All sequences of 10 tokens, or of as many as there are at most 60,000 sequences of: every shorter one is a beginning
// of some of them.
TokenTable every_short_sequence(std::int64_t alphabet);
// 100 sequences of 200 independent tokens from a stream of their own. `p_last`: how often the last token of the
// alphabet comes; empty: as often as the others.
TokenTable random_long_sequences(std::int64_t alphabet, std::optional<double> p_last);

struct EstimatorDistance {
  double probability = 0;      // the largest |dp|
  double divergence = 0;       // the largest KL(estimator || model), nats
  double mean_divergence = 0;  // over all prefixes
};
EstimatorDistance distance(SequenceModel& model, Estimator& estimator, const TokenTable& sequences);

}  // namespace mambarium
