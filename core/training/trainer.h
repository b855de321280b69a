// Trainer: one experiment between two steps. Torch stays in the .cpp.
//
// run.device says where steps are taken (training_step.h); auto is the GPU where there is one that covers the model,
// and the model is looked at and evaluated on the CPU always. advance() takes one optimiser step; evaluation,
// checkpoints and the run folder are its business, pausing and pacing are the caller's (just do not call advance()).
// Between any two calls the caller may inspect, checkpoint or stop. Same configuration, same thread count:
// bit-identical metrics.csv (but for `seconds`) and checkpoints, stopped and resumed or not. Not thread-safe: one
// thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/contract/metrics.h"
#include "core/contract/run_folder.h"
#include "core/models/sequence_model.h"
#include "core/training/training_error.h"
#include "core/training/training_step.h"

namespace mambarium {

class DecodingTask;  // core/decoding/decoding_task.h

struct TrainerOptions {
  Engine engine = Engine::fused;
  std::optional<std::filesystem::path> folder;  // where to write; empty: memory only (bench, tests)
  StepFactory make_step = {};                   // empty: as run.device says
};

class Trainer {
 public:
  // Fresh: makes the run folder (if any), warms couplings up to their motif, evaluates step 0 and writes its row.
  static std::unique_ptr<Trainer> create(const ExperimentConfig& config, const TrainerOptions& options = {});
  // Goes on from the newest checkpoint of the folder that can be read whole (a truncated one is passed over, with a
  // note in notes()), with the engine that stands in its manifest.
  static std::unique_ptr<Trainer> resume(const std::filesystem::path& folder, const StepFactory& make_step = {});
  // A run that begins with the parent's checkpoint of `step` and other settings: what both models have starts with the
  // parent's weights and moments (read_shared_weights()), what is new as at step 0 of a fresh run. Step, schedule and
  // batches go on at `step`, so that both train on the same sequences; the first row is the fork's own evaluation
  // there. It has the parent's engine. Nothing of the parent is written to; it may be training. Throws TrainingError,
  // also for every one of fork_problems().
  static std::unique_ptr<Trainer> fork(const RunFolder& parent, std::int64_t step, const ExperimentConfig& config,
                                       const std::filesystem::path& folder);
  // A name under run.out that no run has yet: "2026-11-30-mamba2-k1-a3f9".
  static std::filesystem::path new_folder(const ExperimentConfig& config);

  virtual ~Trainer() = default;

  virtual const ExperimentConfig& config() const = 0;
  virtual Engine engine() const = 0;  // that computes it
  virtual const std::optional<std::filesystem::path>& folder() const = 0;
  virtual std::int64_t step() const = 0;
  virtual bool finished() const = 0;
  virtual double last_train_loss() const = 0;
  virtual std::int64_t parameter_count() const = 0;

  // One step; then a row when step % eval_every == 0 or it was the last, a checkpoint when due or last. Throws
  // TrainingError.
  virtual void advance() = 0;

  virtual const std::vector<MetricsRow>& rows() const = 0;
  virtual const std::vector<std::int64_t>& checkpoints() const = 0;  // ascending steps on disk
  virtual void write_checkpoint() = 0;                               // now, unless one of this step exists
  virtual void set_status(const std::string& status, const std::string& exit_reason) = 0;  // into manifest.json
  virtual const std::vector<std::string>& notes() const = 0;

  virtual const DecodingTask* decoding() const = 0;  // what a decoder trains on; nullptr for models of tokens
  virtual SequenceModel& model() = 0;  // current until the next step; throws TrainingError when a GPU has failed
};

// The weights of a checkpoint in a model made for the same configuration. Throws TrainingError naming file, tensor,
// expected and found shape; the model is untouched then.
void load_checkpoint(SequenceModel& model, const std::filesystem::path& checkpoint);

// Test loss of a model, and the estimators' on the same sequences. At least 512 kernels; sequences from the "test"
// stream. add_beta is the task's best possible predictor without the kernel: the Bayes predictor where chains switch.
// Of a decoder every window of the test part is judged, whatever `sequences` says, and add_beta and oracle are the
// ideal decoder: NaN where it is not known.
struct Evaluation {
  double model = 0, add_beta = 0, oracle = 0, uniform = 0;           // in the task's loss_unit() (yardsticks.h)
  double accuracy = std::numeric_limits<double>::quiet_NaN();        // share of the scored tokens that came out on top
  double r_squared = std::numeric_limits<double>::quiet_NaN();       // multivariate, of decoded outputs
  double best_accuracy = std::numeric_limits<double>::quiet_NaN();   // the same two of the ideal decoder, where the
  double best_r_squared = std::numeric_limits<double>::quiet_NaN();  // recording has one
  std::int64_t sequences = 0;
};
Evaluation evaluate(SequenceModel& model, const ExperimentConfig& config, std::int64_t sequences);

}  // namespace mambarium
