// Random Markov chains of order k over S states (paper 1, section 2.1): a fresh kernel for every sequence.
//
// A sequence: S^k rows of the kernel iid Dirichlet(beta); x_1..x_k uniform; x_{t+1} ~ P[x_{t-k+1..t}]. The context index is
// sum_i x_{t-k+i} S^{k-1-i}: the oldest symbol is the most significant. The loss runs over all T targets.
//
// Sequence number n of a stream is a pure function of (stream, n): batches can be drawn in any order, size or thread.
// Throughput: vectorised over sequences; at least 20 million tokens per second on one core for S=2 (bench: "data").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random/stream.h"

namespace mambarium {

struct SequenceBatch {
  std::int64_t batch = 0, length = 0;  // length T: inputs per sequence
  std::vector<std::int32_t> tokens;    // [batch, T+1]: inputs are [:, :T], targets [:, 1:]
  std::vector<float> kernels;          // [batch, S^k, S], only when asked for
  std::span<const std::int32_t> sequence(std::int64_t index) const;
};

class MarkovTask {
 public:
  MarkovTask(std::int64_t order, std::int64_t states, double beta, std::int64_t length);

  std::int64_t order() const { return order_; }
  std::int64_t states() const { return states_; }
  double beta() const { return beta_; }
  std::int64_t length() const { return length_; }
  std::int64_t contexts() const;  // S^k

  // Sequences first .. first+batch-1 of the stream. Reuses out's memory.
  void generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels, SequenceBatch& out) const;

 private:
  std::int64_t order_, states_;
  double beta_;
  std::int64_t length_;
};

}  // namespace mambarium
