#include "core/tasks/sequence_batch.h"

namespace mambarium {
namespace {

template <typename Number>
std::span<const Number> row(const std::vector<Number>& all, std::int64_t rows, std::int64_t index) {
  if (all.empty()) return {};
  const std::size_t size = all.size() / static_cast<std::size_t>(rows);
  return std::span(all).subspan(static_cast<std::size_t>(index) * size, size);
}

}  // namespace

std::span<const std::int32_t> SequenceBatch::sequence(std::int64_t index) const {
  return row(tokens, batch, index);
}

std::span<const float> SequenceBatch::kernel(std::int64_t index) const {
  if (kernel_ends.empty()) return row(kernels, batch, index);
  const auto place = static_cast<std::size_t>(index);
  const std::size_t begin = place == 0 ? 0 : kernel_ends[place - 1];
  return std::span(kernels).subspan(begin, kernel_ends[place] - begin);
}

}  // namespace mambarium
