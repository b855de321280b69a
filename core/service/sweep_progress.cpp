#include "core/service/sweep_progress.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>

#include "core/service/command_error.h"
#include "core/service/duration_text.h"

namespace mambarium {

std::size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::size_t>(CPU_COUNT(&set)) : 1;
}

double training_tokens(const SweepPoint& point) {
  return static_cast<double>(point.config.integer("training.steps") * point.config.integer("training.batch") *
                             length_of(point.config));
}

SweepProgress::SweepProgress(std::size_t all, std::size_t done, std::span<const SweepPoint* const> to_do)
    : all_(all), done_(done) {
  for (const SweepPoint* point : to_do) cost_left_ += training_tokens(*point);
}

SweepListener SweepProgress::listener() {
  return {[this](const SweepPoint& point, const PointMeasures& measures) { measured(point, measures); },
          [](const SweepFailure& failure) { fmt::print(stderr, "{} failed: {}\n", failure.point, failure.reason); }};
}

void SweepProgress::measured(const SweepPoint& point, const PointMeasures& measures) {
  const auto of = [&](const char* name) {
    const auto found = std::ranges::find(sweep_measures(), name, &SweepMeasure::name);
    return measures.values[static_cast<std::size_t>(found - sweep_measures().begin())];
  };
  cost_done_ += training_tokens(point);
  cost_left_ -= training_tokens(point);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begun_;
  const std::string left = cost_left_ > 0 ? ", " + clock_text(elapsed.count() / cost_done_ * cost_left_) + " left" : "";
  fmt::print("{} of {}: {}, gap to {} {:.5f}, gap to the oracle {:.5f}{}\n", ++done_, all_, point.id,
             best_predictor_name(point.config), of("gap_add_beta"), of("gap_oracle"), left);
  std::fflush(stdout);
}

int tell_interrupted() {
  fmt::print(stderr, "Interrupted; every run that was under way has a checkpoint. The same command goes on.\n");
  return exit_code::interrupted;
}

}  // namespace mambarium
