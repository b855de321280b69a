#include "core/training/sequence_tensors.h"

#include <torch/torch.h>

#include <algorithm>

namespace mambarium {

SequenceTensors sequence_tensors(const SequenceBatch& batch, std::int64_t first, std::int64_t count) {
  const std::int64_t length = batch.length;
  SequenceTensors tensors{torch::empty({count, length}, torch::kInt64), torch::empty({count, length}, torch::kInt64)};
  auto* input = tensors.inputs.data_ptr<std::int64_t>();
  auto* target = tensors.targets.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto tokens = batch.sequence(first + i);
    input = std::copy(tokens.begin(), tokens.end() - 1, input);
    if (batch.scored.empty()) {
      target = std::copy(tokens.begin() + 1, tokens.end(), target);
    } else {
      const std::int64_t at = batch.scored[static_cast<std::size_t>(first + i)];
      std::fill_n(target, length, std::int64_t{-1});
      target[at] = tokens[static_cast<std::size_t>(at + 1)];
      target += length;
    }
  }
  return tensors;
}

}  // namespace mambarium
