// The switching Markov process (paper 1, sections 5.1 and E.7): Markov chains of order k over the tokens 0 .. S-1, and
// a switch token S after which a new chain begins.
//
// At every position, the first included, the switch token comes with probability p_switch, whatever came before;
// otherwise the next token of the present chain. A chain begins at the start of the sequence and after every switch:
// fresh rows iid Dirichlet(beta), k uniform tokens, then x_t ~ P[x_{t-k..t-1}]. Two switches may follow each other. The
// tokens from one switch to the next are a stretch; a sequence with m switches has m+1 stretches, of which the last may
// be empty. The loss runs over all T targets, switches included.
//
// Sequence number n of a stream is a pure function of (stream, n), as in MarkovTask: any order of drawing, any batch;
// a longer T begins with the same tokens. Its numbers are blocks of sub-stream n of the stream:
//   counter 0 ..       position i has two words of block i / 2: word 2 (i % 2) decides the switch, the one after it is
//                      what the token is drawn from
//   counter 2^32 ..    the kernels, as MarkovTask's; row r of stretch j is row number j S^k + r (dirichlet.h)
// p_switch is rounded to a whole multiple of 2^-32, the kernels' cumulative probabilities to 2^-31.
//
// Throughput: one sequence after the other, and only the rows that are visited are drawn.
// Threads: a SwitchingTask is immutable; one SequenceBatch per thread.
#pragma once

#include "core/tasks/markov_task.h"

namespace mambarium {

class SwitchingTask {
 public:
  // Throws std::invalid_argument naming the value: p_switch above 0 and up to 0.5, the others as MarkovTask.
  SwitchingTask(std::int64_t order, std::int64_t states, double beta, std::int64_t length, double p_switch);

  const MarkovTask& chain() const { return chain_; }  // between two switches
  double p_switch() const { return p_switch_; }
  std::int32_t switch_token() const { return static_cast<std::int32_t>(chain_.states()); }
  std::int64_t alphabet() const { return chain_.states() + 1; }
  std::int64_t length() const { return chain_.length(); }

  // Sequences first .. first+batch-1 of the stream; with_kernels: one kernel for every stretch. Reuses out's memory.
  void generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels,
                SequenceBatch& out) const;

 private:
  MarkovTask chain_;
  double p_switch_;
};

}  // namespace mambarium
