// Computes points of a sweep: every one is trained by a `train` of its own with one thread, then measured by an
// `evaluate` of its own, so many at a time. A point that fails stops no other.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/service/signal_watcher.h"
#include "core/sweep/sweep_folder.h"

namespace mambarium {

struct SweepFailure {
  std::string point, reason;  // reason: the sentences the process left
};

struct SweepOutcome {
  std::vector<SweepFailure> failures;
  bool interrupted = false;  // by a signal, after every run that was under way has written its checkpoint
};

// Told from the calling thread, in the order in which points end.
struct SweepListener {
  std::function<void(const SweepPoint&, const PointMeasures&)> measured;
  std::function<void(const SweepFailure&)> failed;
};

// A run that a folder holds already is gone on with from its newest checkpoint, or only measured when it is finished.
// Throws TrainingError when a file of the sweep's folder cannot be written. Call it from the main thread
// (child_process.h).
SweepOutcome compute_points(const SweepFolder& folder, std::span<const SweepPoint* const> points, std::size_t workers,
                            const SignalWatcher& signals, const SweepListener& listener);

}  // namespace mambarium
