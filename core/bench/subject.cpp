#include "core/bench/subject.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <stdexcept>

#include "core/training/runtime.h"

namespace mambarium {

namespace {

double processor_seconds() {
  std::timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void time_once(Subject& subject, double seconds) {
  using Clock = std::chrono::steady_clock;
  configure_runtime(subject.threads);
  const auto begin = Clock::now();
  const double processor_begin = processor_seconds();
  std::int64_t calls = 0;
  double elapsed = 0;
  do {
    subject.call();
    ++calls;
    elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (elapsed < seconds);
  const auto tokens = static_cast<double>(calls * subject.tokens);
  subject.by_wall.push_back(tokens / elapsed);
  subject.by_processor.push_back(tokens / std::max(processor_seconds() - processor_begin, 1e-9));
}

}  // namespace

double Subject::median() {
  std::ranges::sort(by_wall);
  return by_wall[by_wall.size() / 2];
}

void time_in_turns(std::vector<Subject>& subjects, const BenchOptions& options) {
  if (options.rounds < 1) {
    throw std::invalid_argument("rounds: " + std::to_string(options.rounds) + " is below 1");
  }
  for (Subject& subject : subjects) {
    configure_runtime(subject.threads);
    subject.call();
  }
  for (std::int64_t round = 0; round < options.rounds; ++round) {
    for (Subject& subject : subjects) time_once(subject, options.seconds);
  }
}

}  // namespace mambarium
