#include "core/service/speedometer.h"

namespace mambarium {

namespace {

constexpr std::chrono::milliseconds window{1000};
constexpr std::chrono::milliseconds resolution{10};

}  // namespace

void Speedometer::restart(std::int64_t step, Clock::time_point now) {
  marks_.assign(1, {now, step});
}

void Speedometer::passed(std::int64_t step, Clock::time_point now) {
  // Marks closer than the resolution are merged, so a fast run does not fill memory; the oldest mark stays just outside
  // the window.
  if (marks_.size() >= 2 && now - marks_[marks_.size() - 2].time < resolution)
    marks_.back() = {now, step};
  else
    marks_.push_back({now, step});
  while (marks_.size() > 2 && now - marks_[1].time >= window) marks_.pop_front();
}

double Speedometer::steps_per_second() const {
  if (marks_.size() < 2) return 0;
  const std::chrono::duration<double> time = marks_.back().time - marks_.front().time;
  return time.count() > 0 ? static_cast<double>(marks_.back().step - marks_.front().step) / time.count() : 0;
}

double Speedometer::seconds_left(std::int64_t steps) const {
  const double speed = steps_per_second();
  return speed > 0 ? static_cast<double>(steps - marks_.back().step) / speed : -1;
}

}  // namespace mambarium
