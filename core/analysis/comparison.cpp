#include "core/analysis/comparison.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "core/estimators/known_task.h"
#include "core/random/stream.h"
#include "core/training/sequence_tensors.h"

namespace mambarium {

namespace {

constexpr std::int64_t sequences_at_once = 32;

Measured measured(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1) / count)};
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(a.size());
  std::ranges::transform(a, b, result.begin(), std::minus<>());
  return result;
}

void append_model_losses(SequenceModel& model, const SequenceBatch& batch, std::vector<double>& losses) {
  const auto [inputs, targets] = sequence_tensors(batch, 0, batch.batch);
  const at::Tensor chosen = model.log_probabilities(inputs).gather(2, targets.unsqueeze(2)).squeeze(2);
  const at::Tensor means = chosen.to(torch::kCPU, torch::kFloat64).mean(1).neg().contiguous();
  losses.insert(losses.end(), means.data_ptr<double>(), means.data_ptr<double>() + means.numel());
}

}  // namespace

Comparison compare(SequenceModel& model, const ExperimentConfig& config, std::int64_t sequences) {
  const torch::NoGradGuard no_grad;
  const auto task = make_task(config, Split::test);
  const Stream stream(static_cast<std::uint64_t>(config.integer("training.seed")), "test");
  std::vector<double> of_model, of_add_beta, of_oracle;
  SequenceBatch batch;
  for (std::int64_t first = 0; first < sequences; first += sequences_at_once) {
    task->generate(stream, first, std::min(sequences_at_once, sequences - first), true, batch);
    append_model_losses(model, batch, of_model);
    const EstimatorLosses best = task->losses(batch);
    of_add_beta.insert(of_add_beta.end(), best.add_beta.begin(), best.add_beta.end());
    of_oracle.insert(of_oracle.end(), best.oracle.begin(), best.oracle.end());
  }
  return {sequences,
          measured(of_model),
          measured(of_add_beta),
          measured(of_oracle),
          std::log(static_cast<double>(task->alphabet())),
          measured(difference(of_model, of_add_beta)),
          measured(difference(of_model, of_oracle))};
}

}  // namespace mambarium
