// A figure straight from a run folder, as the window would show that run alone.
#pragma once

#include "ui/figure/figure.h"

namespace mambarium {

// `inspected_paths` are JSON files as `mambarium-worker inspect` prints them: the panels that look into a model need
// one. More than one are answers at other steps; what the figure shows as now is the last in training.
// Throws std::invalid_argument with one sentence: a folder that cannot be read, a file that is not JSON, an unknown
// panel.
Figure figureOfRun(const QString& folder, const QString& panel_id, const QStringList& inspected_paths);

}  // namespace mambarium
