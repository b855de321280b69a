#include "core/contract/lower_bound.h"

#include <algorithm>
#include <cmath>

namespace mambarium {

double lower_bound_bits(std::int64_t states, std::int64_t order, double epsilon) {
  const double contexts = std::pow(static_cast<double>(states), static_cast<double>(order));
  return std::max(0.0, contexts * (1 - 3 * epsilon) * std::log2(1 / epsilon));
}

std::optional<std::int64_t> recurrent_state_numbers(const ExperimentConfig& config) {
  if (!is_mamba(config)) return std::nullopt;
  const std::int64_t d_inner = d_inner_of(config), d_state = config.integer("model.d_state");
  std::int64_t convolved = 0;
  if (config.includes("model.conv", "x")) convolved += d_inner;
  for (const char* const segment : {"B", "C"})
    if (config.includes("model.conv", segment)) convolved += d_state;
  return config.integer("model.layers") * (d_inner * d_state + convolved * (config.integer("model.d_conv") - 1));
}

}  // namespace mambarium
