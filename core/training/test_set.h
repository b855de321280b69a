// TestSet: the fixed sequences a run is measured on, each with a kernel of its own, and what the best predictors lose
// there.
//
// The sequences are the first ones of test_stream(), Stream(training.seed, "test"): the same for every model of a seed.
// The estimators' losses are computed once; evaluate() computes the model's, without gradients, in pieces that fit the
// cache. Of a decoder they are the windows of the test part, all of them and in order.
#pragma once

#include <cstdint>
#include <memory>

#include "core/contract/experiment_config.h"
#include "core/decoding/decoding_task.h"
#include "core/models/sequence_model.h"
#include "core/random/stream.h"
#include "core/tasks/sequence_batch.h"
#include "core/training/trainer.h"

namespace mambarium {

Stream test_stream(const ExperimentConfig& config);

class TestSet {
 public:
  TestSet(const ExperimentConfig& config, std::int64_t sequences);
  explicit TestSet(std::shared_ptr<const DecodingTask> decoding);
  Evaluation evaluate(SequenceModel& model) const;

 private:
  SequenceBatch sequences_;                       // without kernels
  std::shared_ptr<const DecodingTask> decoding_;  // in their place, where windows are decoded
  Evaluation estimators_;
};

}  // namespace mambarium
