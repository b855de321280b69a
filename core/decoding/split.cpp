#include "core/decoding/split.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/contract/text.h"

namespace mambarium {
namespace {

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// Where the part that began at `begin` must end so that nothing in it draws on what window `cut` draws on.
std::int64_t end_before(const DecodingWindows& windows, std::int64_t begin, std::int64_t cut) {
  std::int64_t end = std::max(begin, cut - (windows.bins - 1));
  const std::int64_t first_drawn_on = windows.first_bin[index(cut)] - windows.reach_before;
  while (end > begin && windows.first_bin[index(end - 1)] + windows.bins + windows.reach_after > first_drawn_on) --end;
  return end;
}

void split_day(const DecodingWindows& windows, std::int64_t begin, std::int64_t end, const SplitShares& shares,
               WindowSplit& split) {
  for (std::int64_t w = begin + 1; w < end; ++w)
    if (windows.first_bin[index(w)] <= windows.first_bin[index(w - 1)])
      throw std::invalid_argument(windows.source + ": window " + std::to_string(w) +
                                  " begins no later than the one before it; windows must be in the order of time");
  const auto share_of = [](double share, std::int64_t count) {
    return static_cast<std::int64_t>(std::floor(share * static_cast<double>(count) + 1e-9));
  };
  const std::int64_t test = begin + share_of(1 - shares.test, end - begin);
  const auto fail = [&](const char* part) {
    throw std::invalid_argument(windows.source + ": the " + std::to_string(end - begin) + " windows of day " +
                                std::to_string(windows.day[index(begin)]) + " leave none for " + part +
                                "; with gaps of " + std::to_string(windows.bins - 1) +
                                " windows at the cuts there must be more");
  };
  if (test >= end) fail("testing");
  const std::int64_t train_end = end_before(windows, begin, test);
  std::int64_t fit_end = train_end;
  if (shares.validation > 0) {
    const std::int64_t validation = begin + share_of(1 - shares.validation, train_end - begin);
    if (validation >= train_end) fail("choosing");
    fit_end = end_before(windows, begin, validation);
    for (std::int64_t w = validation; w < train_end; ++w) split.validation.push_back(w);
  }
  if (fit_end <= begin) fail("training");
  for (std::int64_t w = begin; w < fit_end; ++w) split.train.push_back(w);
  for (std::int64_t w = test; w < end; ++w) split.test.push_back(w);
}

}  // namespace

WindowSplit chronological_split(const DecodingWindows& windows, const SplitShares& shares) {
  if (!(shares.test > 0 && shares.test < 1 && shares.validation >= 0 && shares.validation < 1))
    throw std::invalid_argument("a split into " + shortest(shares.test) + " for testing and " +
                                shortest(shares.validation) +
                                " for choosing is none; both must be below 1, and testing above 0");
  WindowSplit split;
  for (std::int64_t begin = 0; begin < windows.windows;) {
    std::int64_t end = begin + 1;
    while (end < windows.windows && windows.day[index(end)] == windows.day[index(begin)]) ++end;
    split_day(windows, begin, end, shares, split);
    begin = end;
  }
  return split;
}

ColumnStatistics column_statistics(std::span<const float> values, std::int64_t rows, std::int64_t columns,
                                   std::span<const std::int64_t> windows) {
  ColumnStatistics statistics{std::vector<double>(index(columns)), std::vector<double>(index(columns))};
  const double count = static_cast<double>(rows) * static_cast<double>(windows.size());
  if (count == 0) throw std::invalid_argument("statistics need at least one window");
  const auto for_each_row = [&](const auto& act) {
    for (const std::int64_t w : windows)
      for (std::int64_t row = 0; row < rows; ++row)
        act(values.subspan(index((w * rows + row) * columns), index(columns)));
  };
  for_each_row([&](std::span<const float> row) {
    for (std::size_t c = 0; c < row.size(); ++c) statistics.mean[c] += static_cast<double>(row[c]) / count;
  });
  for_each_row([&](std::span<const float> row) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const double difference = static_cast<double>(row[c]) - statistics.mean[c];
      statistics.scale[c] += difference * difference / count;
    }
  });
  for (std::size_t c = 0; c < statistics.scale.size(); ++c) {
    const double deviation = std::sqrt(statistics.scale[c]);
    statistics.scale[c] = deviation > 1e-9 * std::abs(statistics.mean[c]) ? deviation : 1;
  }
  return statistics;
}

void standardise(std::span<float> values, const ColumnStatistics& statistics) {
  const std::size_t columns = statistics.mean.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = i % columns;
    values[i] = static_cast<float>((static_cast<double>(values[i]) - statistics.mean[c]) / statistics.scale[c]);
  }
}

}  // namespace mambarium
