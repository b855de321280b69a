#include "core/service/sweep_progress.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/contract/length_schedule.h"
#include "core/contract/yardsticks.h"
#include "core/service/command_error.h"
#include "core/service/duration_text.h"

namespace mambarium {

std::size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::size_t>(CPU_COUNT(&set)) : 1;
}

double training_tokens(const SweepPoint& point) {
  return static_cast<double>(LengthSchedule(point.config).tokens_before(point.config.integer("training.steps")));
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
  std::string facts;
  if (const double right = of("accuracy"); !std::isnan(right)) facts += fmt::format(", {:.2f} % right", 100 * right);
  if (const double gap = of("gap_add_beta"); !std::isnan(gap))
    facts += fmt::format(", gap to {} {:.5f}", best_predictor_name(point.config), gap);
  if (const double gap = of("gap_oracle"); !std::isnan(gap) && !yardsticks(point.config).oracle.empty())
    facts += fmt::format(", gap to the oracle {:.5f}", gap);
  cost_done_ += training_tokens(point);
  cost_left_ -= training_tokens(point);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begun_;
  const std::string left = cost_left_ > 0 ? ", " + clock_text(elapsed.count() / cost_done_ * cost_left_) + " left" : "";
  fmt::print("{} of {}: {}{}{}\n", ++done_, all_, point.id, facts, left);
  std::fflush(stdout);
}

int tell_interrupted() {
  fmt::print(stderr, "Interrupted; every run that was under way has a checkpoint. The same command goes on.\n");
  return exit_code::interrupted;
}

}  // namespace mambarium
