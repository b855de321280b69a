// Sums of weight gradients over a batch, the same to the last bit for any number of threads.
//
// Items (sequences, or blocks of rows) fall into groups of neighbours; a group is summed by one thread in order, then
// the groups are added up in order. The grouping depends on the batch alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/kernels/flush_denormals.h"
#include "core/kernels/parallel.h"
#include "core/kernels/scratch.h"

namespace mambarium::kernels {

inline constexpr std::int64_t most_groups = 16;

// make(scratch) gives zeroed sums (with members `first` and `count`), work(item, sums, scratch) adds one item to them.
// What is returned lives in `shared`.
template <class Make, class Work>
auto sum_over_groups(std::int64_t items, int threads, Scratch& shared, const Make& make, const Work& work) {
  const std::int64_t groups = items < most_groups ? items : most_groups;
  std::vector<decltype(make(shared))> sums;
  for (std::int64_t group = 0; group < groups; ++group) {
    sums.push_back(make(shared));
  }
  parallel_ranges(groups, threads, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    Scratch scratch;
    for (std::int64_t group = begin; group < end; ++group) {
      for (std::int64_t item = items * group / groups; item < items * (group + 1) / groups; ++item) {
        const Scratch::Frame frame(scratch);
        work(item, sums[static_cast<std::size_t>(group)], scratch);
      }
    }
  });
  for (std::size_t group = 1; group < sums.size(); ++group) {
    for (std::int64_t i = 0; i < sums[0].count; ++i) {
      sums[0].first[i] += sums[group].first[i];
    }
  }
  return sums[0];
}

}  // namespace mambarium::kernels
