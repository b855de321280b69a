// FileTask: sequences cut from a person's own chain of symbols.
//
// The first four fifths of the file are for training, the last fifth is for test and probe sequences, so nothing is
// tested on what was trained on. Sequence n of a stream begins at the place that word 0 and 1 of block (0, n) choose,
// uniform over the part. Its kernel, all sequences' alike, is the chain of order k fitted to the whole file: successor
// counts of each context divided by their sum (a context that never comes: uniform). So the "oracle" is the best fixed
// chain of that order in hindsight; with a finite file it is not the truth.
//
// Immutable; any thread, one SequenceBatch per thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/random/stream.h"
#include "core/tasks/markov_task.h"
#include "core/tasks/sequence_batch.h"
#include "core/tasks/symbol_file.h"

namespace mambarium {

enum class Split { training, test };

class FileTask {
 public:
  // chain: order, states, beta and length that the sequences are looked at with. Throws std::invalid_argument, one
  // sentence that begins with the setting or `name`: another number of states than the file has symbols, or a part
  // shorter than a sequence and its last target.
  FileTask(const SymbolFile& file, const std::string& name, const MarkovTask& chain, Split split);

  const MarkovTask& chain() const { return chain_; }
  void generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels,
                SequenceBatch& out) const;

 private:
  MarkovTask chain_;
  std::vector<std::int32_t> part_;
  std::vector<float> kernel_;
};

}  // namespace mambarium
