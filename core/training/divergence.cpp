#include "core/training/divergence.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "core/models/parameter.h"

namespace mambarium {
namespace {

bool finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

std::string text(double value) {
  if (std::isnan(value)) return "nan";  // its sign is an accident
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 4);
  return {buffer, result.ptr};
}

float largest(std::span<const float> values) {
  float found = 0;
  for (const float value : values) found = std::max(found, std::abs(value));
  return found;
}

}  // namespace

const Parameter* first_not_finite(const std::vector<Parameter>& parameters, std::span<const OptimisedBuffer> buffers) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!finite(buffers[i].values)) return &parameters[i];
  }
  return nullptr;
}

TrainingError divergence(std::int64_t step, double loss, const std::vector<Parameter>& parameters,
                         std::span<const OptimisedBuffer> buffers, double learning_rate) {
  std::string message = "training diverged at step " + std::to_string(step) + ": the loss is " + text(loss);
  const auto bad_gradient = std::ranges::find_if_not(buffers, finite, &OptimisedBuffer::gradient);
  if (const Parameter* const bad = first_not_finite(parameters, buffers)) {
    message += " and parameter " + bad->name + " has values that are not finite";
  } else if (std::isfinite(loss) && bad_gradient != buffers.end()) {
    message += " and the gradient of parameter " +
               parameters[static_cast<std::size_t>(bad_gradient - buffers.begin())].name + " is not finite";
  } else {
    const auto widest =
        std::ranges::max_element(buffers, {}, [](const auto& buffer) { return largest(buffer.values); });
    message += "; the largest parameter is " + parameters[static_cast<std::size_t>(widest - buffers.begin())].name +
               " with " + text(double{largest(widest->values)});
  }
  return {message, "Lower training.lr (the rate of this step was " + text(learning_rate) +
                       ") or training.clip, or go on from an earlier checkpoint."};
}

}  // namespace mambarium
