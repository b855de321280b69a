#include "core/theory/no_go.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace mambarium {

namespace {

using Function = std::vector<double>;  // a number for each of the 2^(k+1) windows; bit i of its index is token i

Function walsh(unsigned tokens, std::size_t windows) {
  Function values(windows);
  for (std::size_t g = 0; g < windows; ++g) values[g] = std::popcount(static_cast<unsigned>(g) & tokens) % 2 ? -1 : 1;
  return values;
}

double product(const Function& a, const Function& b) {
  double sum = 0;
  for (std::size_t g = 0; g < a.size(); ++g) sum += a[g] * b[g];
  return sum;
}

void remove_direction(Function& from, const Function& unit) {
  const double along = product(from, unit);
  for (std::size_t g = 0; g < from.size(); ++g) from[g] -= along * unit[g];
}

// Gram and Schmidt; what depends on the directions before it adds none.
void add_direction(std::vector<Function>& basis, Function candidate) {
  const double before = std::sqrt(product(candidate, candidate));
  for (const Function& unit : basis) remove_direction(candidate, unit);
  const double length = std::sqrt(product(candidate, candidate));
  constexpr double as_good_as_nothing = 1e-9;
  if (length <= as_good_as_nothing * before) return;
  for (double& value : candidate) value /= length;
  basis.push_back(std::move(candidate));
}

std::vector<Function> reachable(unsigned order) {
  const std::size_t windows = std::size_t{2} << order;
  std::vector<Function> basis;
  for (unsigned tokens = 0; tokens < windows; ++tokens)
    if (std::popcount(tokens) <= 2) add_direction(basis, walsh(tokens, windows));
  for (unsigned tokens = 1; tokens < windows / 2; ++tokens) {
    Function telescoping = walsh(tokens, windows);
    const Function later = walsh(tokens << 1, windows);
    for (std::size_t g = 0; g < windows; ++g) telescoping[g] -= later[g];
    add_direction(basis, std::move(telescoping));
  }
  return basis;
}

}  // namespace

double no_go_residual(std::int64_t order) {
  constexpr std::int64_t most = 8;
  if (order < 1 || order > most)
    throw std::invalid_argument("the residual is computed for orders 1 to 8, not for order " + std::to_string(order));
  const std::vector<Function> basis = reachable(static_cast<unsigned>(order));
  const std::size_t windows = std::size_t{2} << order;
  double largest = 0;
  for (std::size_t g = 0; g < windows; ++g) {
    Function indicator(windows);
    indicator[g] = 1;
    for (const Function& unit : basis) remove_direction(indicator, unit);
    largest = std::max(largest, product(indicator, indicator));
  }
  return largest;
}

}  // namespace mambarium
