// A figure straight from a run folder, as the window would show that run alone.
#pragma once

#include <optional>

#include "ui/figure/figure.h"

namespace mambarium {

// `inspected` is a JSON file as `mambarium-worker inspect` prints it; the panels that look into a model need one.
// Throws std::invalid_argument with one sentence: a folder that cannot be read, a file that is not JSON, an unknown
// panel.
Figure figureOfRun(const QString& folder, const QString& panel_id, const std::optional<QString>& inspected_path);

}  // namespace mambarium
