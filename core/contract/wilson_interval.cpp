#include "core/contract/wilson_interval.h"

#include <algorithm>
#include <cmath>

namespace mambarium {

ShareInterval wilson_interval(double share, double trials) {
  if (!(share >= 0 && share <= 1 && trials > 0)) return {};
  constexpr double z = 1.959963984540054;
  const double shrunk = 1 + z * z / trials;
  const double middle = (share + z * z / (2 * trials)) / shrunk;
  const double half = z * std::sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / shrunk;
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

}  // namespace mambarium
