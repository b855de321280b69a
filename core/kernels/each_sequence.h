// The sequences of a batch, shared by threads, where each writes what is its own alone (group_sums.h: where they add
// up).
#pragma once

#include <cstdint>

#include "core/kernels/flush_denormals.h"
#include "core/kernels/parallel.h"
#include "core/kernels/scratch.h"

namespace mambarium::kernels {

// work(b, scratch) for b = 0 .. batch - 1; the scratch is the thread's, and what is taken of it lasts for one sequence.
template <class Work>
void each_sequence(std::int64_t batch, int threads, const Work& work) {
  parallel_ranges(batch, threads, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    Scratch scratch;
    for (std::int64_t b = begin; b < end; ++b) {
      const Scratch::Frame frame(scratch);
      work(b, scratch);
    }
  });
}

}  // namespace mambarium::kernels
