// Induction heads (paper 2, associative recall): random tokens in which one key comes twice. What followed it the first
// time is the answer after the second, the one target of the sequence that counts.
//
// A sequence of T inputs over a vocabulary of V tokens: tokens 1 .. V-1 uniform; a key and another token, its value;
// the key at place p of 1 .. T/2-2 and the value after it; both again from place q of max(p+2, T/2) .. T-2. A key that
// came by accident is replaced by 1 + key mod (V-1), so the key stands at p and q alone. Token 0 never comes. The
// prediction that is scored is the one after input q.
//
// Sequence n of a stream is a pure function of (stream, n): tokens from sub-stream n as in MarkovTask, key, value, p
// and q from its blocks 2^32 and 2^32 + 1. Another T is another sequence. Immutable: any thread, one SequenceBatch
// each.
#pragma once

#include <cstdint>

#include "core/random/stream.h"
#include "core/tasks/sequence_batch.h"

namespace mambarium {

class InductionTask {
 public:
  static constexpr std::int64_t shortest = 8, fewest_states = 4;

  // Throws std::invalid_argument naming the value: vocabulary >= fewest_states, length >= shortest.
  InductionTask(std::int64_t vocabulary, std::int64_t length);

  std::int64_t vocabulary() const { return vocabulary_; }
  std::int64_t length() const { return length_; }

  // Sequences first .. first+batch-1 of the stream, with `scored`. Reuses out's memory.
  void generate(const Stream& stream, std::int64_t first, std::int64_t batch, SequenceBatch& out) const;

 private:
  std::int64_t vocabulary_, length_;
};

}  // namespace mambarium
