#include "core/models/initialisation.h"

#include <cmath>
#include <numeric>

#include "core/random/stream.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

std::vector<double> drawn(std::uint64_t seed, const std::string& name, std::int64_t count, bool normal) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  const Stream stream(seed, "parameter " + name);
  if (normal) {
    stream.normal(numbers);
  } else {
    stream.uniform(numbers);
  }
  return numbers;
}

at::Tensor rounded(const std::vector<double>& numbers, const Initialiser::Shape& shape, at::ScalarType type) {
  return torch::tensor(numbers, torch::kFloat64).to(torch::kFloat32).to(type).reshape(shape).contiguous();
}

std::int64_t product(const Initialiser::Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

at::Tensor Initialiser::constant(const Shape& shape, double value) const {
  return torch::full(shape, value, torch::TensorOptions().dtype(type_));
}

at::Tensor Initialiser::normal(const std::string& name, const Shape& shape, double deviation) const {
  auto numbers = drawn(seed_, name, product(shape), true);
  for (double& number : numbers) {
    number *= deviation;
  }
  return rounded(numbers, shape, type_);
}

at::Tensor Initialiser::uniform(const std::string& name, const Shape& shape, double bound) const {
  auto numbers = drawn(seed_, name, product(shape), false);
  for (double& number : numbers) {
    number = bound * (2.0 * number - 1.0);
  }
  return rounded(numbers, shape, type_);
}

at::Tensor Initialiser::log_decay_rate(const std::string& name, std::int64_t heads) const {
  auto numbers = drawn(seed_, name, heads, false);
  for (double& number : numbers) {
    number = std::log(1.0 + 15.0 * number);
  }
  return rounded(numbers, {heads}, type_);
}

at::Tensor Initialiser::dt_bias(const std::string& name, std::int64_t heads) const {
  constexpr double smallest = 1e-3, largest = 1e-1;
  auto numbers = drawn(seed_, name, heads, false);
  for (double& number : numbers) {
    const double dt = std::exp(std::log(smallest) + number * (std::log(largest) - std::log(smallest)));
    number = dt + std::log(-std::expm1(-dt));
  }
  return rounded(numbers, {heads}, type_);
}

}  // namespace mambarium
