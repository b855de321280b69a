#include "core/analysis/comparison.h"

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/estimators/known_task.h"
#include "core/training/sequence_tensors.h"
#include "core/training/test_set.h"

namespace mambarium {

namespace {

constexpr std::int64_t sequences_at_once = 32, tokens_at_once = 1 << 15;

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(a.size());
  std::ranges::transform(a, b, result.begin(), std::minus<>());
  return result;
}

void append_model_losses(const at::Tensor& log_probabilities, const at::Tensor& targets, std::vector<double>& losses) {
  const at::Tensor chosen = log_probabilities.gather(2, targets.unsqueeze(2)).squeeze(2);
  const at::Tensor means = chosen.to(torch::kCPU, torch::kFloat64).mean(1).neg().contiguous();
  losses.insert(losses.end(), means.data_ptr<double>(), means.data_ptr<double>() + means.numel());
}

void append_distances(const at::Tensor& log_probabilities, const SequenceBatch& batch, Estimator& best,
                      std::vector<double>& distances) {
  const at::Tensor probabilities = log_probabilities.to(torch::kCPU, torch::kFloat64).exp().contiguous();
  const double* of_model = probabilities.data_ptr<double>();
  std::vector<double> of_best(static_cast<std::size_t>(best.states()));
  for (std::int64_t index = 0; index < batch.batch; ++index) {
    best.reset();
    double sum = 0;
    for (const std::int32_t token : batch.sequence(index).first(static_cast<std::size_t>(batch.length))) {
      best.observe(token);
      best.predict(of_best);
      for (const double probability : of_best) sum += std::abs(probability - *of_model++);
    }
    distances.push_back(sum / 2 / static_cast<double>(batch.length));
  }
}

}  // namespace

Comparison compare(SequenceModel& model, const ExperimentConfig& config, std::int64_t sequences,
                   const std::function<void(std::int64_t)>& told) {
  const torch::NoGradGuard no_grad;
  const auto task = make_task(config, Split::test);
  const auto best_predictor = task->best_predictor();
  const Stream stream = test_stream(config);
  std::vector<double> of_model, of_add_beta, of_oracle, distances;
  SequenceBatch batch;
  const std::int64_t at_once = std::clamp<std::int64_t>(tokens_at_once / task->length(), 1, sequences_at_once);
  for (std::int64_t first = 0; first < sequences; first += at_once) {
    if (told) told(first);
    task->generate(stream, first, std::min(at_once, sequences - first), true, batch);
    const auto [inputs, targets] = sequence_tensors(batch, 0, batch.batch);
    const at::Tensor log_probabilities = model.log_probabilities(inputs);
    append_model_losses(log_probabilities, targets, of_model);
    append_distances(log_probabilities, batch, *best_predictor, distances);
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
          measured(difference(of_model, of_oracle)),
          measured(distances)};
}

DecayMeans decay_means(SequenceModel& model, const ExperimentConfig& config, std::int64_t sequences) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const bool has_factors = config.applies("model.decay") && !nothing_to_inspect(config, "decay");
  if (!has_factors || config.text("model.decay") == "one") return {nan, nan};
  const auto switch_token = switch_token_of(config);
  const auto task = make_task(config, Split::test);
  const Stream stream = test_stream(config);
  std::array<double, 2> sums{}, counts{};
  SequenceBatch batch;
  for (std::int64_t index = 0; index < sequences; ++index) {
    task->generate(stream, index, 1, false, batch);
    const auto inputs = batch.sequence(0).first(static_cast<std::size_t>(batch.length));
    const Tensor decay = model.decay_factors(inputs);
    for (std::size_t place = 0; place < decay.data.size(); ++place) {
      const std::size_t is_switch = inputs[place % inputs.size()] == switch_token ? 1 : 0;
      sums[is_switch] += decay.data[place];
      ++counts[is_switch];
    }
  }
  return {sums[0] / counts[0], sums[1] / counts[1]};
}

}  // namespace mambarium
