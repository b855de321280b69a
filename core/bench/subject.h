// Subject: one thing that is timed. Subjects that are to be compared are timed in turns, so that what else the machine
// does falls on all of them alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mambarium {

struct Subject {
  std::string name, covers;
  std::int64_t tokens = 0;  // per call
  std::function<void()> call;
  std::int64_t threads = 1;  // configure_runtime() before each turn

  std::vector<double> by_wall, by_processor;  // tokens a second, one per turn; sorted by median()
  double median();                            // by the wall clock
};

struct BenchOptions {
  std::int64_t rounds = 5;
  double seconds = 1;   // per subject and round; at least one call
  bool on_gpu = false;  // measure the GPU as well, which has to be usable
};

// One untimed call each, then `rounds` rounds. Throws std::invalid_argument for less than one round.
void time_in_turns(std::vector<Subject>& subjects, const BenchOptions& options);

}  // namespace mambarium
