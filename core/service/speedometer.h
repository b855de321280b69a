// How fast a run goes: over about the last second, so that pauses and changes of tempo are forgotten quickly.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

namespace mambarium {

class Speedometer {
 public:
  using Clock = std::chrono::steady_clock;

  // Call at the start, after every step, and with restart() when training goes on after a pause.
  void restart(std::int64_t step, Clock::time_point now = Clock::now());
  void passed(std::int64_t step, Clock::time_point now = Clock::now());

  double steps_per_second() const;                // 0 while nothing is known
  double seconds_left(std::int64_t steps) const;  // to step number `steps`; negative while nothing is known

 private:
  struct Mark {
    Clock::time_point time;
    std::int64_t step;
  };
  std::deque<Mark> marks_;
};

}  // namespace mambarium
