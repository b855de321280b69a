// The inner loop of MarkovTask: many chains at once, one vector lane each, on whatever instruction set the CPU has.
//
// Whole-number arithmetic only, so every instruction set gives the same tokens.
#pragma once

#include <array>
#include <cstdint>

namespace mambarium {

struct TokenJob {
  std::array<std::uint32_t, 2> key{};
  std::uint64_t first = 0;  // number of the first sequence
  std::int64_t batch = 0;
  std::int64_t order = 1, states = 2, contexts = 2;
  std::int64_t tokens = 0;  // per sequence: T+1

  // [batch, contexts, 2^search_steps] with 2^search_steps >= states. A row's entry s is c_s - 1 (dirichlet.h) for
  // s < states-1 and INT32_MAX after that: the symbol is the number of entries below a uniform 31-bit number.
  const std::int32_t* thresholds = nullptr;
  int search_steps = 1;

  const std::int32_t* first_tokens = nullptr;  // [batch, order]: what sequences begin with; nullptr: uniform tokens

  std::int32_t* out = nullptr;  // [batch, tokens]
};

// contexts * 2^search_steps * 64 must fit in 31 bits. Thread-safe.
void sample_tokens(const TokenJob& job);

}  // namespace mambarium
