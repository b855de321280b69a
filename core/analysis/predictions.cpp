#include "core/analysis/predictions.h"

#include <torch/torch.h>

#include "core/models/model_tensors.h"

namespace mambarium {

Tensor predictions(SequenceModel& model, std::span<const std::int32_t> tokens) {
  const torch::NoGradGuard no_grad;
  return plain_tensor(model.log_probabilities(row_of(tokens)).exp().squeeze(0));
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
