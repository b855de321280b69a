#include "core/reproduce/paired_test.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/contract/measured.h"
#include "core/contract/student_t.h"

namespace mambarium {

namespace {

// What is left of equal differences are roundings of what they are differences of.
bool are_same(std::span<const double> numbers) {
  constexpr double rounding = 1e-12;
  const auto [least, most] = std::ranges::minmax(numbers);
  return most - least <= rounding * std::max(std::abs(least), std::abs(most));
}

}  // namespace

PairedTest paired_test(std::span<const double> differences) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> pairs;
  std::ranges::copy_if(differences, std::back_inserter(pairs), [](double value) { return !std::isnan(value); });
  const std::int64_t n = std::ssize(pairs);
  if (n < 2) return {n, nan, nan};
  if (are_same(pairs)) return {n, nan, nan, true};
  const Measured mean = measured(pairs);
  const double t = mean.mean / mean.standard_error;
  return {n, t, std::max(0.0, 1 - student_t_within(std::abs(t), n - 1))};
}

std::vector<double> holm_adjusted(std::span<const double> p) {
  std::vector<std::size_t> order;
  for (std::size_t index = 0; index < p.size(); ++index)
    if (!std::isnan(p[index])) order.push_back(index);
  std::ranges::stable_sort(order, {}, [&](std::size_t index) { return p[index]; });
  std::vector<double> adjusted(p.begin(), p.end());
  double highest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    highest = std::max(highest, static_cast<double>(order.size() - rank) * p[order[rank]]);
    adjusted[order[rank]] = std::min(1.0, highest);
  }
  return adjusted;
}

}  // namespace mambarium
