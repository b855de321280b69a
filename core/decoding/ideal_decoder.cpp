#include "core/decoding/ideal_decoder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

namespace mambarium {
namespace {

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

std::int32_t IdealAnswer::direction() const {
  return static_cast<std::int32_t>(std::ranges::max_element(posterior) - posterior.begin());
}

IdealDecoder::IdealDecoder(const SimulatedSession& session, std::int64_t day, std::int64_t bins, std::int64_t stride)
    : bins_(bins), channels_(session.settings().channels) {
  const std::int64_t trial_bins = session.settings().trial_bins;
  if (bins < 1 || bins > trial_bins || stride < 1)
    throw std::invalid_argument("ideal decoder: windows of " + std::to_string(bins) + " bins every " +
                                std::to_string(stride) + " bins do not fit trials of " + std::to_string(trial_bins) +
                                " bins");
  for (std::size_t d = 0; d < cosine_.size(); ++d) {
    cosine_[d] = std::cos(static_cast<double>(d) * std::numbers::pi / 4);
    sine_[d] = std::sin(static_cast<double>(d) * std::numbers::pi / 4);
  }
  const std::vector<SimulatedUnit> units = session.units(day);
  for (const SimulatedUnit& unit : units)
    for (std::size_t d = 0; d < cosine_.size(); ++d)
      weight_.push_back(unit.modulation * std::cos(static_cast<double>(d) * std::numbers::pi / 4 - unit.preferred) +
                        unit.untuned_modulation);
  for (const ReachProfile& profile : session.profiles()) {
    std::vector<std::array<double, direction_count>> expected(index(trial_bins));
    for (std::size_t bin = 0; bin < expected.size(); ++bin)
      for (std::size_t d = 0; d < cosine_.size(); ++d)
        for (const SimulatedUnit& unit : units)
          if (unit.tuned) expected[bin][d] += expected_count(unit, static_cast<std::int32_t>(d), profile.drive[bin]);
    for (std::int64_t place = 0; place + bins <= trial_bins; place += stride) {
      Hypothesis hypothesis{{}, {}, profile.distance[index(place + bins - 1)], profile.speed[index(place + bins - 1)]};
      for (std::int64_t bin = place; bin < place + bins; ++bin) {
        hypothesis.drive.push_back(profile.drive[index(bin)]);
        for (std::size_t d = 0; d < cosine_.size(); ++d) hypothesis.expected[d] += expected[index(bin)][d];
      }
      hypotheses_.push_back(std::move(hypothesis));
    }
  }
}

IdealAnswer IdealDecoder::answer(std::span<const float> window) const {
  constexpr std::size_t directions = direction_count;
  if (window.size() != index(bins_ * channels_))
    throw std::invalid_argument("ideal decoder: a window holds " + std::to_string(window.size()) + " counts; " +
                                std::to_string(bins_) + " bins of " + std::to_string(channels_) + " channels need " +
                                std::to_string(bins_ * channels_));
  std::vector<std::array<double, directions>> drawn(index(bins_));  // A_t(d)
  for (std::size_t t = 0; t < drawn.size(); ++t)
    for (std::size_t c = 0; c < index(channels_); ++c) {
      const double count = static_cast<double>(window[t * index(channels_) + c]);
      if (count == 0) continue;
      for (std::size_t d = 0; d < directions; ++d) drawn[t][d] += count * weight_[c * directions + d];
    }
  std::vector<std::array<double, directions>> likelihood(hypotheses_.size());
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t h = 0; h < hypotheses_.size(); ++h) {
    auto& row = likelihood[h];
    for (std::size_t t = 0; t < drawn.size(); ++t)
      for (std::size_t d = 0; d < directions; ++d) row[d] += hypotheses_[h].drive[t] * drawn[t][d];
    for (std::size_t d = 0; d < directions; ++d) {
      row[d] -= hypotheses_[h].expected[d];
      largest = std::max(largest, row[d]);
    }
  }
  IdealAnswer answer;
  double total = 0;
  for (std::size_t h = 0; h < hypotheses_.size(); ++h)
    for (std::size_t d = 0; d < directions; ++d) {
      const double weight = std::exp(likelihood[h][d] - largest);
      total += weight;
      answer.posterior[d] += weight;
      answer.outputs[0] += weight * hypotheses_[h].distance * cosine_[d];
      answer.outputs[1] += weight * hypotheses_[h].distance * sine_[d];
      answer.outputs[2] += weight * hypotheses_[h].speed * cosine_[d];
      answer.outputs[3] += weight * hypotheses_[h].speed * sine_[d];
    }
  for (double& probability : answer.posterior) probability /= total;
  for (double& output : answer.outputs) output /= total;
  return answer;
}

}  // namespace mambarium
