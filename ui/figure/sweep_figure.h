// A figure straight from a sweep's folder, as the window would show it.
#pragma once

#include "ui/figure/figure.h"
#include "ui/plots/sweep_slice.h"

namespace mambarium {

// `path`: results.json or the folder it is in. Throws std::invalid_argument with one sentence: what cannot be read, or
// a choice that the sweep does not have.
Figure figureOfSweep(const QString& path, const SweepChoice& choice);

}  // namespace mambarium
