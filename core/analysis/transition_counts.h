// n_ij: how often token j has followed context i, after every token of a sequence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mambarium {

// Row t, of S^k S numbers (order 0: S counts of tokens), holds the counts after tokens[0..t]; [T, S^k, S]. A context's
// row number is that of MarkovTask: its oldest token counts most. The token `states` is the switch token, after which
// counting begins anew. Tokens must be 0 .. states. S^k S T must be a size that memory holds.
std::vector<float> transition_counts(std::span<const std::int32_t> tokens, std::int64_t order, std::int64_t states);

}  // namespace mambarium
