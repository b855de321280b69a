#include "core/analysis/transition_counts.h"

#include <algorithm>

namespace mambarium {

std::vector<float> transition_counts(std::span<const std::int32_t> tokens, std::int64_t order, std::int64_t states) {
  std::int64_t contexts = 1;
  for (std::int64_t i = 0; i < order; ++i) contexts *= states;
  std::vector<float> now(static_cast<std::size_t>(contexts * states)), rows;
  rows.reserve(tokens.size() * now.size());
  std::int64_t context = 0, seen = 0;
  for (const std::int32_t token : tokens) {
    if (token == states) {
      std::ranges::fill(now, 0.0F);
      seen = 0;
    } else {
      if (seen >= order) ++now[static_cast<std::size_t>(context * states + token)];
      context = (context * states + token) % contexts;
      ++seen;
    }
    rows.insert(rows.end(), now.begin(), now.end());
  }
  return rows;
}

}  // namespace mambarium
