// Reading a sweep's folder on this computer: its results, or what is there of them so far.
#pragma once

#include <QString>
#include <memory>

#include "ui/plots/sweep_data.h"

namespace mambarium {

// `path`: results.json or the folder it is in; `with_curves` also reads metrics.csv of every run. Throws
// std::invalid_argument with one sentence. A run that is not there has an empty curve; when none is, there are no
// curves.
std::shared_ptr<const SweepData> readSweep(const QString& path, bool with_curves);

}  // namespace mambarium
