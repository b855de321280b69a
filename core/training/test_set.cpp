#include "core/training/test_set.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/estimators/known_task.h"
#include "core/models/model_tensors.h"
#include "core/training/decoded_test.h"
#include "core/training/sequence_tensors.h"

namespace mambarium {
namespace {

constexpr std::int64_t sequences_at_once = 64;
constexpr std::int64_t tokens_at_once = 1 << 15;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

Stream test_stream(const ExperimentConfig& config) {
  return {static_cast<std::uint64_t>(config.integer("training.seed")), "test"};
}

TestSet::TestSet(std::shared_ptr<const DecodingTask> decoding) : decoding_(std::move(decoding)) {
  estimators_.sequences = decoding_->test_windows();
  estimators_.uniform = uninformed_loss(*decoding_);
  estimators_.add_beta = estimators_.oracle = std::numeric_limits<double>::quiet_NaN();
  if (decoding_->ideal().empty()) return;
  const DecodedTest ideal = decode_test_ideally(*decoding_);
  estimators_.add_beta = estimators_.oracle = ideal.loss;
  if (decoding_->shape().outputs)
    estimators_.best_r_squared = ideal.r_squared_of_all;
  else
    estimators_.best_accuracy = ideal.classes.accuracy;
}

TestSet::TestSet(const ExperimentConfig& config, std::int64_t sequences) {
  const auto task = make_task(config, Split::test);
  const Stream stream = test_stream(config);
  sequences_.batch = sequences;
  sequences_.length = task->length();
  SequenceBatch piece;
  double add_beta = 0, oracle = 0;
  for (std::int64_t first = 0; first < sequences; first += sequences_at_once) {
    task->generate(stream, first, std::min(sequences_at_once, sequences - first), true, piece);
    const EstimatorLosses losses = task->losses(piece);
    add_beta += sum(losses.add_beta);
    oracle += sum(losses.oracle);
    sequences_.tokens.insert(sequences_.tokens.end(), piece.tokens.begin(), piece.tokens.end());
    sequences_.scored.insert(sequences_.scored.end(), piece.scored.begin(), piece.scored.end());
  }
  estimators_.sequences = sequences;
  estimators_.add_beta = add_beta / static_cast<double>(sequences);
  estimators_.oracle = oracle / static_cast<double>(sequences);
  estimators_.uniform = std::log(static_cast<double>(task->alphabet()));
}

Evaluation TestSet::evaluate(SequenceModel& model) const {
  if (decoding_) {
    const DecodedTest test = decode_test(model, *decoding_);
    Evaluation evaluation = estimators_;
    evaluation.model = test.loss;
    evaluation.r_squared = test.r_squared_of_all;
    if (!decoding_->shape().outputs) evaluation.accuracy = test.classes.accuracy;
    return evaluation;
  }
  const torch::NoGradGuard no_gradients;
  const std::int64_t at_once = std::clamp<std::int64_t>(tokens_at_once / sequences_.length, 1, sequences_at_once);
  const bool scored = !sequences_.scored.empty();
  double loss = 0;
  std::int64_t right = 0;
  for (std::int64_t first = 0; first < sequences_.batch; first += at_once) {
    const std::int64_t count = std::min(at_once, sequences_.batch - first);
    const auto [inputs, targets] = sequence_tensors(sequences_, first, count);
    if (scored) {
      const auto [rows, answers] = scored_rows(model.log_probabilities(inputs), targets);
      loss += torch::nll_loss(rows[0], answers, {}, at::Reduction::Sum).item<double>();
      right += rows[0].argmax(-1).eq(answers).sum().item<std::int64_t>();
    } else {
      loss += model.loss(inputs, targets).item<double>() * static_cast<double>(count);
    }
  }
  Evaluation evaluation = estimators_;
  evaluation.model = loss / static_cast<double>(sequences_.batch);
  if (scored) evaluation.accuracy = static_cast<double>(right) / static_cast<double>(sequences_.batch);
  return evaluation;
}

Evaluation evaluate(SequenceModel& model, const ExperimentConfig& config, std::int64_t sequences) {
  if (is_decoder(config)) return TestSet(std::make_shared<const DecodingTask>(config)).evaluate(model);
  return TestSet(config, sequences).evaluate(model);
}

}  // namespace mambarium
