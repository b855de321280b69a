// What `evaluate` says of a decoder: loss, right answers and which directions are taken for which, or R^2 of every
// output, beside the ideal decoder where it is known. Standard error has a sentence where the test loss is no longer
// the run's own, since the recording's files hold something else now.
#pragma once

#include <optional>

#include "core/service/loaded_run.h"
#include "core/service/picard_report.h"

namespace mambarium {

// Prints it; what it returns is the exit code.
int report_decoding(const LoadedRun& run, const std::optional<PicardComparison>& picard, bool as_json);

}  // namespace mambarium
