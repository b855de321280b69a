// Student's t distribution for whole degrees of freedom: how wide an interval of a mean over a few seeds is.
#pragma once

#include <cstdint>

namespace mambarium {

// P(|T| <= t), t >= 0, degrees >= 1: the finite sums 26.7.3 and 26.7.4 of Abramowitz and Stegun.
double student_t_within(double t, std::int64_t degrees);

// The t for which P(|T| <= t) = 0.95: 12.706 for one degree of freedom, towards 1.960 for many.
double student_t_95(std::int64_t degrees);

}  // namespace mambarium
