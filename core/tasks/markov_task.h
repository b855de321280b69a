// Random Markov chains of order k over S states (paper 1, section 2.1): a fresh kernel for every sequence.
//
// A sequence: S^k rows of the kernel iid Dirichlet(beta); x_1..x_k uniform; x_{t+1} ~ P[x_{t-k+1..t}]. The context
// index is sum_i x_{t-k+i} S^{k-1-i}: the oldest symbol is the most significant. The loss runs over all T targets.
//
// Sequence number n of a stream is a pure function of (stream, n): batches can be drawn in any order, size or thread,
// on any instruction set. A longer T begins with the same tokens. Its numbers are blocks of sub-stream n of the stream:
//   counter 0 ..       token i is drawn from word i % 4 of block i / 4
//   counter 2^32 ..    beta = 1: the row's S-1 cumulative probabilities are sorted uniform words
//   counter 2^33 ..    any other beta: gamma variates of Marsaglia and Tsang (ACM TOMS 26, 2000), taken in log space
// A kernel's cumulative probabilities are whole multiples of 2^-31, and `kernels` holds exactly those probabilities (to
// float): the oracle knows what was drawn from, and a symbol of probability 0 never comes.
//
// A variant draws the kernels or the first tokens otherwise:
//   low, high   the rows of random, squeezed so that P(1 | context) lies in [0, 1/2] or [1/2, 1]: train on one, test on
//               the other (paper 1, Table 2). S = 2.
//   fixed       one kernel for all sequences, that of sequence 0 of Stream(kernel_seed, "kernel")
//   stationary  x_1..x_k from the stationary distribution of the sequence's own kernel instead of uniform: word 0 of
//               block 0 chooses among the S^k contexts. Add-beta is then no longer exactly the Bayes predictor.
//
// Throughput: vectorised over sequences; at least 20 million tokens per second on one core for S=2 (bench: "data").
// Threads: a MarkovTask is immutable; one SequenceBatch per thread.
#pragma once

#include <cstdint>
#include <span>

#include "core/random/stream.h"
#include "core/tasks/sequence_batch.h"

namespace mambarium {

struct MarkovVariant {
  enum class Kernels { random, low, high, fixed };
  enum class Start { uniform, stationary };
  Kernels kernels = Kernels::random;
  Start start = Start::uniform;
  std::uint64_t kernel_seed = 0;  // of the fixed kernel
};

class MarkovTask {
 public:
  static constexpr std::int64_t maximum_kernel_entries = 1 << 22;  // of S^(k+1)

  // Throws std::invalid_argument naming the value: order >= 0, states >= 2, length >= 1, beta > 0 and finite, and
  // S^(k+1) within maximum_kernel_entries; S = 2 for low and high; S^k within most_stationary_contexts (contract) for
  // a stationary start. Order 0 is a fresh biased die for every sequence.
  MarkovTask(std::int64_t order, std::int64_t states, double beta, std::int64_t length, MarkovVariant variant = {});

  std::int64_t order() const { return order_; }
  std::int64_t states() const { return states_; }
  double beta() const { return beta_; }
  std::int64_t length() const { return length_; }
  std::int64_t contexts() const { return contexts_; }  // S^k

  // Sequences first .. first+batch-1 of the stream. Reuses out's memory.
  void generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels,
                SequenceBatch& out) const;

 private:
  void draw_row(const Stream& stream, std::uint64_t n, std::uint64_t row, std::span<std::int64_t> cumulative) const;

  std::int64_t order_, states_;
  double beta_;
  std::int64_t length_;
  MarkovVariant variant_;
  Stream kernel_stream_;
  std::int64_t contexts_ = 1;
};

}  // namespace mambarium
