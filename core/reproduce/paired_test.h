// Whether two models differ, decided on the differences of one measure with equal seeds (equal test sequences).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mambarium {

// The paired t-test of "no difference", two-sided. Without a test t and p are NaN: of less than two pairs, and where
// all pairs differ by the same, which leaves nothing to estimate a standard error from.
struct PairedTest {
  std::int64_t n = 0;     // pairs
  double t = 0;           // mean / standard error
  double p = 1;           // of a |t| as large or larger by Student's t with n - 1 degrees of freedom, to 1e-15
  bool all_same = false;  // two pairs or more, and every difference is the same to 12 digits, 0 included
};
// Of the differences that are not NaN.
PairedTest paired_test(std::span<const double> differences);

// The p values of a family of comparisons after Holm's step-down correction, in their order: what is below 0.05 then is
// a difference with at most a 5 % chance of one false among all of them. NaN stays and is no part of the family.
std::vector<double> holm_adjusted(std::span<const double> p);

}  // namespace mambarium
