#include "core/reproduce/median.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

namespace mambarium {

namespace {

// The largest k with P(Binomial(n, 1/2) < k) <= 0.025: the k-th smallest and the k-th largest value bound the interval.
// 0 where there is none.
std::size_t place_of_bound(std::size_t n) {
  double term = std::pow(0.5, static_cast<double>(n)), below = 0;
  std::size_t place = 0;
  while (place <= n / 2 && below + term <= 0.025) {
    below += term;
    ++place;
    term *= static_cast<double>(n + 1 - place) / static_cast<double>(place);
  }
  return place;
}

}  // namespace

SweepSummary median_summary(std::span<const double> values) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted;
  std::ranges::copy_if(values, std::back_inserter(sorted), [](double value) { return !std::isnan(value); });
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  if (n == 0) return {nan, nan, 0, nan, nan};
  const double median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  const std::size_t place = place_of_bound(n);
  if (place == 0) return {median, nan, std::ssize(sorted), nan, nan};
  return {median, nan, std::ssize(sorted), sorted[place - 1], sorted[n - place]};
}

}  // namespace mambarium
