// KnownTask: the task of an experiment together with its best possible predictors, whichever kind it is.
//
// Training and test sequences differ by their stream alone, except with task.kernels holdout (kernels of the lower half
// to train on, of the upper half to test on) and from a file, which is cut in two parts.
//
// Immutable: any thread, one SequenceBatch and one Estimator per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/contract/experiment_config.h"
#include "core/estimators/estimators.h"
#include "core/tasks/file_task.h"

namespace mambarium {

class KnownTask {
 public:
  virtual ~KnownTask() = default;
  virtual std::int64_t alphabet() const = 0;  // tokens 0 .. alphabet-1
  virtual std::int64_t length() const = 0;    // T

  // Sequences first .. first+batch-1 of the stream, a pure function of it; reuses out's memory.
  virtual void generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels,
                        SequenceBatch& out) const = 0;

  // The best that can be done without knowing the kernel: add-beta; the Bayes predictor where the chain switches. With
  // kernels of one half, a stationary start, a fixed kernel or a file it is add-beta still, which a model that has
  // learned more than counting can beat. Of induction heads recall, and the oracle is the same.
  virtual std::unique_ptr<Estimator> best_predictor() const = 0;
  // The one that knows everything a sequence was drawn from, SequenceBatch::kernel() of it.
  virtual std::unique_ptr<Estimator> oracle(std::span<const float> kernel) const = 0;
  // Both on every sequence of a batch of this task with kernels.
  virtual EstimatorLosses losses(const SequenceBatch& batch) const = 0;
};

// Probe sequences belong to the test. Throws std::invalid_argument naming the setting or the file that cannot be, as
// MarkovTask, SwitchingTask and FileTask do.
std::unique_ptr<KnownTask> make_task(const ExperimentConfig& config, Split split);

}  // namespace mambarium
