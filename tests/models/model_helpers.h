// What the model tests share: token sequences, weights large enough for every part to matter, parameters by name.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/models/parameter.h"
#include "core/models/sequence_model.h"

namespace mambarium {

inline at::Tensor some_tokens(std::int64_t batch, std::int64_t length, std::int64_t states, std::uint64_t salt = 0) {
  auto tokens = torch::empty({batch, length}, torch::kInt64);
  std::uint64_t number = 88172645463325252u + salt;
  for (std::int64_t index = 0; index < batch * length; ++index) {
    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
    tokens.data_ptr<std::int64_t>()[index] =
        static_cast<std::int64_t>((number >> 20) % static_cast<std::uint64_t>(states));
  }
  return tokens;
}

// Initial weights are so small that errors would hide behind them.
inline void enlarge(SequenceModel& model, double size = 0.3) {
  const torch::NoGradGuard no_gradients;
  std::int64_t salt = 0;
  for (Parameter& parameter : model.parameters()) {
    const auto steps = torch::arange(parameter.tensor.numel(), torch::kFloat64).reshape(parameter.tensor.sizes());
    const auto change = torch::sin(steps * 1.7 + static_cast<double>(++salt)) * size;
    parameter.tensor.add_(change.to(torch::kFloat32).to(parameter.tensor.scalar_type()));
    parameter.tensor.copy_(parameter.tensor.to(torch::kFloat32));
  }
}

inline std::map<std::string, at::Tensor> named(SequenceModel& model) {
  std::map<std::string, at::Tensor> map;
  for (const Parameter& parameter : model.parameters()) {
    map[parameter.name] = parameter.tensor;
  }
  return map;
}

// The largest difference between a gradient of the loss and its finite difference, over the first `most` numbers of
// every parameter.
inline double gradient_error(SequenceModel& model, const at::Tensor& tokens, const at::Tensor& targets,
                             std::int64_t most) {
  model.loss(tokens, targets).backward();
  const torch::NoGradGuard no_gradients;
  double largest = 0;
  for (const Parameter& parameter : model.parameters()) {
    const auto numbers = parameter.tensor.view({-1});
    const auto gradients = parameter.tensor.grad().reshape({-1});
    for (std::int64_t index = 0; index < std::min(numbers.numel(), most); ++index) {
      constexpr double step = 1e-6;
      const double kept = numbers[index].item<double>();
      numbers[index] = kept + step;
      const double above = model.loss(tokens, targets).item<double>();
      numbers[index] = kept - step;
      const double below = model.loss(tokens, targets).item<double>();
      numbers[index] = kept;
      largest = std::max(largest, std::abs((above - below) / (2 * step) - gradients[index].item<double>()));
    }
  }
  return largest;
}

}  // namespace mambarium
