// What a command that computes points of sweeps tells while it does: a line for every point that ends, with the time
// that is left by what those before it took, and a sentence for every one that failed.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include "core/service/sweep_runner.h"

namespace mambarium {

std::size_t usable_cores();  // those this process may use, which a cluster may have narrowed

// Tokens a point is trained on: what runs cost, roughly.
double training_tokens(const SweepPoint& point);

class SweepProgress {
 public:
  // `done` of `all` points are there already.
  SweepProgress(std::size_t all, std::size_t done, std::span<const SweepPoint* const> to_do);
  SweepListener listener();  // refers to this object

 private:
  void measured(const SweepPoint& point, const PointMeasures& measures);

  std::size_t all_, done_;
  double cost_done_ = 0, cost_left_ = 0;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

// What an interrupted command says at its end, and its exit code.
int tell_interrupted();

}  // namespace mambarium
