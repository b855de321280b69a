// The best possible predictors of a Markov chain, each O(1) per token: what a model is measured against.
//
// predict(): P(next = s | tokens so far) into out[S]; observe(token): the token came. Before k tokens were seen every
// predictor is uniform (paper 1, section 2.2). Not thread-safe; one object per sequence, reset() between sequences.
// observe() throws std::invalid_argument for a token that is not one of the S states, and leaves the estimator as it
// was.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tasks/induction_task.h"
#include "core/tasks/markov_task.h"
#include "core/tasks/switching_task.h"

namespace mambarium {

class Estimator {
 public:
  virtual ~Estimator() = default;
  virtual std::int64_t states() const = 0;
  virtual void reset() = 0;
  virtual void predict(std::span<double> out) const = 0;
  virtual void observe(std::int32_t token) = 0;
  virtual std::unique_ptr<Estimator> clone() const = 0;  // with what it has seen
};

// (n_j + beta) / (n + S beta): n_j counts how often j followed the current context before. Bayes-optimal for Dir(beta)
// rows when its order is the chain's; with a lower order it is what a model can reach whose window is too short. Holds
// a dense table of S^(order+1) counts; throws std::invalid_argument where MarkovTask would.
std::unique_ptr<Estimator> make_add_beta(std::int64_t order, std::int64_t states, double beta);

// Knows the kernel (copied; S^order rows of S probabilities, else std::invalid_argument).
std::unique_ptr<Estimator> make_oracle(std::int64_t order, std::int64_t states, std::span<const float> kernel);

std::unique_ptr<Estimator> make_uniform(std::int64_t states);

// The Bayes predictor of the switching process (paper 1, section 5.1): at every token, with probability p_switch, the
// switch token S comes instead, and after it a new chain of this order over the tokens 0 .. S-1 begins. P(S) =
// p_switch; the others share 1 - p_switch as add-beta says from the counts since the last switch. states() is S + 1.
// Throws std::invalid_argument for p_switch outside 0 to 1, and where make_add_beta() does.
std::unique_ptr<Estimator> make_switching_bayes(std::int64_t order, std::int64_t states, double beta, double p_switch);

// Knows the kernels of a sequence of the switching process, those of its stretches in order (SwitchingTask), and
// p_switch. Throws std::invalid_argument where they are not whole kernels; observe() also for a switch after the last.
std::unique_ptr<Estimator> make_switching_oracle(std::int64_t order, std::int64_t states,
                                                 std::span<const float> kernels, double p_switch);

// The answer of an induction head (InductionTask): what followed the last token when it came before, with probability
// 1; one of the tokens 1 .. V-1, all alike, where it has not come before. Exact where the task scores, and no more than
// this guess elsewhere. Throws std::invalid_argument for a vocabulary that InductionTask refuses.
std::unique_ptr<Estimator> make_recall(std::int64_t vocabulary);

// Mean negative log-likelihood over all T targets of tokens[T+1], nats per token. Resets the estimator first.
double mean_loss(Estimator& estimator, std::span<const std::int32_t> tokens);

// The same for every sequence of a batch at once: the add-beta estimator of the task's own order and beta, and the
// oracle. The batch must be the task's, with kernels.
struct EstimatorLosses {
  std::vector<double> add_beta, oracle;  // [batch]
};
EstimatorLosses estimator_losses(const MarkovTask& task, const SequenceBatch& batch);
// Of the switching process: add_beta is the Bayes predictor, which is add-beta between two switches.
EstimatorLosses estimator_losses(const SwitchingTask& task, const SequenceBatch& batch);
// Of induction heads, at the scored target alone: both are recall, whose loss there is 0.
EstimatorLosses estimator_losses(const InductionTask& task, const SequenceBatch& batch);

}  // namespace mambarium
