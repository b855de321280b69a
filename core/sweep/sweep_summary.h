// From measured points to results: rows, cells with intervals over the seeds, and the table for a spreadsheet.
#pragma once

#include <span>
#include <string>

#include "core/sweep/point_file.h"
#include "core/sweep/sweep_file.h"

namespace mambarium {

// Mean, standard error over seeds, and the mean's 95 % interval by Student's t, of the values that are not NaN.
SweepSummary summarised(std::span<const double> values);

// `measures` of every point of `points`, in their order.
SweepResult sweep_result(const Sweep& sweep, std::span<const SweepPoint> points,
                         std::span<const PointMeasures> measures);

// One line per row: the point's id, every setting that varies, "case" where there are cases, the seed, every measure,
// and <measure>_standard_error of those that have one. Shortest texts that read back to the same doubles; an empty
// field for NaN.
std::string results_csv(const SweepResult& result);

}  // namespace mambarium
