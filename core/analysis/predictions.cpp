#include "core/analysis/predictions.h"

#include <torch/torch.h>

namespace mambarium {

Tensor predictions(SequenceModel& model, std::span<const std::int32_t> tokens) {
  const torch::NoGradGuard no_grad;
  const auto length = static_cast<std::int64_t>(tokens.size());
  const at::Tensor inputs = torch::empty({1, length}, torch::kInt64);
  std::copy(tokens.begin(), tokens.end(), inputs.data_ptr<std::int64_t>());
  const at::Tensor probabilities =
      model.log_probabilities(inputs).exp().to(torch::kCPU, torch::kFloat32).squeeze(0).contiguous();
  const auto* first = probabilities.data_ptr<float>();
  return {{length, probabilities.size(1)}, std::vector<float>(first, first + probabilities.numel())};
}

Tensor predictions(Estimator& estimator, std::span<const std::int32_t> tokens) {
  const auto states = static_cast<std::size_t>(estimator.states());
  Tensor table{{static_cast<std::int64_t>(tokens.size()), estimator.states()}, {}};
  table.data.reserve(tokens.size() * states);
  std::vector<double> row(states);
  estimator.reset();
  for (const std::int32_t token : tokens) {
    estimator.observe(token);
    estimator.predict(row);
    for (const double probability : row) table.data.push_back(static_cast<float>(probability));
  }
  return table;
}

}  // namespace mambarium
