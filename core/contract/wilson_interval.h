// Wilson's interval of a share: which true shares a count of right answers leaves likely.
#pragma once

#include <limits>

namespace mambarium {

struct ShareInterval {  // 0 <= low <= share <= high <= 1
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

// The true shares p with |share - p| <= 1.96 sqrt(p (1 - p) / trials): the 95 % score interval (Wilson 1927), of
// `trials` independent trials, a number that need not be whole. NaN for a share outside 0 .. 1 or no trials.
ShareInterval wilson_interval(double share, double trials);

}  // namespace mambarium
