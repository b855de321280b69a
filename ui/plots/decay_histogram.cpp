#include "ui/plots/decay_histogram.h"

#include <algorithm>
#include <cmath>

namespace mambarium {

std::vector<double> decayBinEdges(const std::optional<LogRange>& log_axis) {
  constexpr int per_decade = 8, linear_bins = 40;
  std::vector<double> edges;
  if (!log_axis) {
    for (int i = 0; i <= linear_bins; ++i) edges.push_back(i / double(linear_bins));
    return edges;
  }
  if (log_axis->has_strip) edges.push_back(log_axis->end());
  const double decades = std::log10(log_axis->upper / log_axis->floor);
  const int bins = std::max(1, static_cast<int>(std::lround(decades * per_decade)));
  for (int i = 0; i <= bins; ++i) edges.push_back(log_axis->floor * std::pow(10, decades * i / bins));
  return edges;
}

DecayHistogram decayHistogram(const std::vector<double>& keys, const std::vector<double>& edges) {
  DecayHistogram histogram{std::vector<std::int64_t>(edges.size() - 1), std::ssize(keys)};
  for (const double key : keys) {
    const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, key) - edges.begin();
    ++histogram.counts[static_cast<std::size_t>(above - 1)];
  }
  return histogram;
}

double medianOf(std::vector<float> values) {
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  if (values.empty()) return NAN;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

}  // namespace mambarium
