#include "core/training/input_dropout.h"

#include <algorithm>
#include <cmath>

namespace mambarium {

void drop_inputs(std::span<float> numbers, double share, const Stream& stream, std::int64_t step) {
  if (share <= 0) return;
  const auto dropped = static_cast<std::uint64_t>(std::ldexp(share, 32));
  const auto raised = static_cast<float>(1 / (1 - share));
  constexpr std::size_t words = 4;
  for (std::size_t first = 0; first < numbers.size(); first += words) {
    const auto block = stream.block(first / words, static_cast<std::uint64_t>(step));
    for (std::size_t i = first; i < std::min(first + words, numbers.size()); ++i)
      numbers[i] = block[i - first] < dropped ? 0 : numbers[i] * raised;
  }
}

}  // namespace mambarium
