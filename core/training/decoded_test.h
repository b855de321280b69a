// DecodedTest: what a decoder makes of the test part of its recording, and how good that is.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/decoding/decoding_task.h"
#include "core/decoding/score.h"
#include "core/models/sequence_model.h"

namespace mambarium {

struct DecodedTest {
  double loss = 0;                   // per window, as DecodingModel::loss has it
  std::vector<std::int32_t> labels;  // [windows] the most probable class; none where outputs are decoded
  std::vector<float> outputs;        // [windows, K] as recorded; none where classes are
  ClassScore classes;                // of the labels
  std::vector<double> r_squared;     // [K] of each output; NaN for one that does not change
  double r_squared_of_all = std::numeric_limits<double>::quiet_NaN();  // multivariate
};

// All windows of the test part, in their order, without gradients; `model` is one of this task's.
DecodedTest decode_test(SequenceModel& model, const DecodingTask& task);
// The same of the ideal decoder; std::invalid_argument where it is not known.
DecodedTest decode_test_ideally(const DecodingTask& task);
// What answering the same to every window loses: equal probabilities, or the outputs' means in the train part.
double uninformed_loss(const DecodingTask& task);

std::vector<std::int32_t> test_labels(const DecodingTask& task);
std::vector<float> test_outputs(const DecodingTask& task);  // [windows, K] as recorded

}  // namespace mambarium
