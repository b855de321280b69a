#include "core/contract/length_schedule.h"

#include <algorithm>
#include <cmath>

namespace mambarium {

LengthSchedule::LengthSchedule(const ExperimentConfig& config)
    : steps_(config.integer("training.steps")), batch_(config.integer("training.batch")) {
  const std::int64_t last = length_of(config);
  const std::int64_t first = config.applies("training.first_length") ? config.integer("training.first_length") : 0;
  if (first > 0) {
    for (std::int64_t length = first; length < last; length *= 2) parts_.push_back({length, 0});
  }
  parts_.push_back({last, 0});

  const auto share = [](const Part& part) { return 1 / static_cast<double>(part.length); };
  double all = 0, before = 0;
  for (const Part& part : parts_) all += share(part);
  for (Part& part : parts_) {
    part.first_step = std::llround(before / all * static_cast<double>(steps_));
    before += share(part);
  }
}

std::int64_t LengthSchedule::at(std::int64_t step) const {
  const auto after = std::ranges::upper_bound(parts_, std::max<std::int64_t>(step, 0), {}, &Part::first_step);
  return std::prev(after)->length;
}

std::int64_t LengthSchedule::tokens_before(std::int64_t step) const {
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::int64_t end = i + 1 < parts_.size() ? std::min(step, parts_[i + 1].first_step) : step;
    tokens += std::max<std::int64_t>(end - parts_[i].first_step, 0) * parts_[i].length;
  }
  return tokens * batch_;
}

std::int64_t LengthSchedule::steps_left_alike(std::int64_t step) const {
  const std::int64_t one = tokens_in(step - 1);
  return (tokens_before(steps_) - tokens_before(std::min(step, steps_)) + one - 1) / one;
}

}  // namespace mambarium
