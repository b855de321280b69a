// The median over seeds, for measures whose mean a few seeds far out would decide.
#pragma once

#include <span>

#include "core/contract/sweep_result.h"

namespace mambarium {

// Of the values that are not NaN: `mean` is the median, low to high the narrowest pair of order statistics, equally far
// from both ends, that hold the median of any distribution with at least 95 % confidence (binomial, 1/2). They are NaN
// below 6 values, where no pair does; there is no standard error.
SweepSummary median_summary(std::span<const double> values);

}  // namespace mambarium
