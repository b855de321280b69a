// Which windows a decoder learns from and which it is judged by, without a look ahead.
//
// By time, every day for itself: the first 80 % of a day's windows are for training, the last 20 % for testing, and of
// the training windows the last tenth is for choosing (when to stop, which setting), so that nothing is ever chosen by
// the test windows. At both cuts the windows before the cut give way: bins-1 of them, and more where smoothing reaches
// further or windows stand close, until no bin that a window draws on is drawn on by one behind the cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/decoding/windows.h"

namespace mambarium {

struct SplitShares {
  double test = 0.2;        // of a day's windows
  double validation = 0.1;  // of the day's training windows, gap included; 0: none
};

struct WindowSplit {
  std::vector<std::int64_t> train, validation, test;  // numbers of windows, rising
};

// Throws std::invalid_argument: shares outside 0 .. 1, a day that leaves one of the asked-for parts empty, windows that
// are not in the order of time.
WindowSplit chronological_split(const DecodingWindows& windows, const SplitShares& shares = {});

// Mean and (population) standard deviation of each column of `values` [windows, rows, columns] over the rows of the
// windows named: take them from the training windows, use them for all. A column that does not change has scale 1.
struct ColumnStatistics {
  std::vector<double> mean, scale;  // [columns]
};
ColumnStatistics column_statistics(std::span<const float> values, std::int64_t rows, std::int64_t columns,
                                   std::span<const std::int64_t> windows);
// value = (value - mean) / scale, for every row of values.
void standardise(std::span<float> values, const ColumnStatistics& statistics);

}  // namespace mambarium
