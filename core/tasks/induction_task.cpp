#include "core/tasks/induction_task.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace mambarium {

namespace {

// Uniform in 0 .. count-1, from 32 random bits.
std::int64_t below(std::int64_t count, std::uint32_t word) {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(word) * static_cast<std::uint64_t>(count)) >> 32);
}

void fill(const Stream& stream, std::uint64_t n, std::int64_t vocabulary, std::span<std::int32_t> row) {
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i % 4 == 0) words = stream.block(i / 4, n);
    row[i] = static_cast<std::int32_t>(1 + below(vocabulary - 1, words[i % 4]));
  }
}

}  // namespace

InductionTask::InductionTask(std::int64_t vocabulary, std::int64_t length) : vocabulary_(vocabulary), length_(length) {
  if (vocabulary < fewest_states)
    throw std::invalid_argument("task.states: " + std::to_string(vocabulary) + " is below " +
                                std::to_string(fewest_states) + ", the least that induction can be made of");
  if (length < shortest)
    throw std::invalid_argument("task.length: " + std::to_string(length) + " is below " + std::to_string(shortest) +
                                ", the least that has room for a key and its value twice");
}

void InductionTask::generate(const Stream& stream, std::int64_t first, std::int64_t batch, SequenceBatch& out) const {
  out.batch = batch;
  out.length = length_;
  out.tokens.resize(static_cast<std::size_t>(batch * (length_ + 1)));
  out.scored.resize(static_cast<std::size_t>(batch));
  out.kernels.clear();
  out.kernel_ends.clear();

  const std::int64_t drawn = vocabulary_ - 1;
  for (std::int64_t index = 0; index < batch; ++index) {
    const auto n = static_cast<std::uint64_t>(first + index);
    const auto row =
        std::span(out.tokens)
            .subspan(static_cast<std::size_t>(index * (length_ + 1)), static_cast<std::size_t>(length_ + 1));
    fill(stream, n, vocabulary_, row);
    constexpr std::uint64_t after_tokens = std::uint64_t{1} << 32;
    const auto words = stream.block(after_tokens, n), more = stream.block(after_tokens + 1, n);
    const std::int64_t key = 1 + below(drawn, words[0]);
    const std::int64_t value = 1 + (key + below(drawn - 1, words[1])) % drawn;
    const std::int64_t place = 1 + below(length_ / 2 - 2, words[2]);
    const std::int64_t earliest = std::max(place + 2, length_ / 2);
    const std::int64_t query = earliest + below(length_ - 1 - earliest, more[0]);

    std::ranges::replace(row, static_cast<std::int32_t>(key), static_cast<std::int32_t>(1 + key % drawn));
    for (const std::int64_t at : {place, query}) {
      row[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(key);
      row[static_cast<std::size_t>(at + 1)] = static_cast<std::int32_t>(value);
    }
    out.scored[static_cast<std::size_t>(index)] = query;
  }
}

}  // namespace mambarium
