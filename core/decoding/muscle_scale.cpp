#include "core/decoding/muscle_scale.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <stdexcept>
#include <string>

#include "core/contract/text.h"

namespace mambarium {
namespace {

struct MuscleScale {
  double most = 0, rest = 0, unit = 1;
};

MuscleScale scale_of(std::vector<double> values) {
  const double count = static_cast<double>(values.size());
  double mean = 0, variance = 0;
  for (const double value : values) mean += value / count;
  for (const double value : values) variance += (value - mean) * (value - mean) / count;
  MuscleScale scale;
  scale.most = mean + 6 * std::sqrt(variance);
  for (double& value : values) value = std::min(value, scale.most);
  scale.rest = percentile(values, 0.02);
  const double unit = percentile(std::move(values), 0.9) - scale.rest;
  if (unit > 0) scale.unit = unit;
  return scale;
}

}  // namespace

double percentile(std::vector<double> values, double share) {
  if (values.empty() || !(share >= 0 && share <= 1))
    throw std::invalid_argument("a percentile of " + std::to_string(values.size()) + " values at the share " +
                                shortest(share) + " is not defined");
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto at = [&](std::size_t rank) {
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(rank);
    std::ranges::nth_element(values, nth);
    return *nth;
  };
  const double low = at(below), high = at(std::min(below + 1, values.size() - 1));
  return low + (place - static_cast<double>(below)) * (high - low);
}

void scale_muscles(DecodingWindows& windows, const WindowSplit& split) {
  const std::size_t columns = windows.output_names.size();
  const auto muscles = static_cast<std::size_t>(windows.muscle_outputs);
  if (muscles == 0) return;
  std::map<std::int64_t, std::vector<std::int64_t>> train_of;  // by day
  for (const std::int64_t w : split.train) train_of[windows.day[static_cast<std::size_t>(w)]].push_back(w);
  std::map<std::int64_t, std::vector<MuscleScale>> scales_of;
  for (const auto& [day, train] : train_of)
    for (std::size_t muscle = 0; muscle < muscles; ++muscle) {
      std::vector<double> values;
      for (const std::int64_t w : train)
        values.push_back(static_cast<double>(windows.target[static_cast<std::size_t>(w) * columns + muscle]));
      scales_of[day].push_back(scale_of(std::move(values)));
    }
  for (std::size_t w = 0; w < windows.day.size(); ++w) {
    const auto found = scales_of.find(windows.day[w]);
    if (found == scales_of.end())
      throw std::invalid_argument(windows.source + ": day " + std::to_string(windows.day[w]) +
                                  " has no window for training, which its muscles' scale is taken from");
    for (std::size_t muscle = 0; muscle < muscles; ++muscle) {
      const MuscleScale& scale = found->second[muscle];
      float& value = windows.target[w * columns + muscle];
      value = static_cast<float>((std::min(static_cast<double>(value), scale.most) - scale.rest) / scale.unit);
    }
  }
}

}  // namespace mambarium
