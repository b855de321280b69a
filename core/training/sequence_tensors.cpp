#include "core/training/sequence_tensors.h"

#include <torch/torch.h>

#include <algorithm>

namespace mambarium {

namespace {

template <typename Number>
at::Tensor rows_of(const std::vector<Number>& numbers, std::int64_t width, std::int64_t first, std::int64_t count) {
  auto rows = torch::empty({count, width}, c10::CppTypeToScalarType<Number>::value);
  std::copy_n(numbers.begin() + first * width, count * width, rows.template data_ptr<Number>());
  return rows;
}

SequenceTensors window_tensors(const SequenceBatch& batch, std::int64_t first, std::int64_t count) {
  const auto windows = rows_of(batch.features, batch.length * batch.channels, first, count);
  const auto inputs = windows.view({count, batch.length, batch.channels});
  if (!batch.labels.empty()) return {inputs, rows_of(batch.labels, 1, first, count).view(count)};
  return {inputs, rows_of(batch.outputs, std::ssize(batch.outputs) / batch.batch, first, count)};
}

}  // namespace

SequenceTensors sequence_tensors(const SequenceBatch& batch, std::int64_t first, std::int64_t count) {
  if (!batch.features.empty()) return window_tensors(batch, first, count);
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
