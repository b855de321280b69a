// From measured points to results: rows, cells with intervals over the seeds, and the table for a spreadsheet.
#pragma once

#include <span>
#include <string>

#include "core/contract/partial_sweep.h"
#include "core/sweep/sweep_file.h"

namespace mambarium {

// `measures` of every point of `points`, in their order.
SweepResult sweep_result(const Sweep& sweep, std::span<const SweepPoint> points,
                         std::span<const PointMeasures> measures);

// The same before anything is measured.
SweepResult unmeasured(const Sweep& sweep, std::span<const SweepPoint> points);

// One line per row: the point's id, every setting that varies, "case" where there are cases, the seed, every measure,
// and <measure>_standard_error of those that have one. Shortest texts that read back to the same doubles; an empty
// field for NaN.
std::string results_csv(const SweepResult& result);

}  // namespace mambarium
