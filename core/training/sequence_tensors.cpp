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
    target = std::copy(tokens.begin() + 1, tokens.end(), target);
  }
  return tensors;
}

}  // namespace mambarium
