// The best possible predictors of a Markov chain, each O(1) per token: what a model is measured against.
//
// predict(): P(next = s | tokens so far) into out[S]; observe(token): the token came. Before k tokens were seen every
// predictor is uniform (paper 1, section 2.2). Not thread-safe; one object per sequence, reset() between sequences.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tasks/markov_task.h"

namespace mambarium {

class Estimator {
 public:
  virtual ~Estimator() = default;
  virtual void reset() = 0;
  virtual void predict(std::span<double> out) const = 0;
  virtual void observe(std::int32_t token) = 0;
};

// (n_j + beta) / (n + S beta): n_j counts how often j followed the current context before. Bayes-optimal for Dir(beta).
class AddBetaEstimator;
// The kernel itself.
class OracleEstimator;

std::unique_ptr<Estimator> make_add_beta(std::int64_t order, std::int64_t states, double beta);
std::unique_ptr<Estimator> make_oracle(std::int64_t order, std::int64_t states, std::span<const float> kernel);
std::unique_ptr<Estimator> make_uniform(std::int64_t states);

// Mean negative log-likelihood over all T targets of tokens[T+1], nats per token.
double mean_loss(Estimator& estimator, std::span<const std::int32_t> tokens);

}  // namespace mambarium
