#include "core/training/adamw.h"

#include <algorithm>
#include <cmath>

namespace mambarium {

double global_gradient_norm(std::span<const OptimisedBuffer> buffers) {
  double sum = 0;
  for (const OptimisedBuffer& buffer : buffers) {
    for (const float gradient : buffer.gradient) sum += double{gradient} * double{gradient};
  }
  return std::sqrt(sum);
}

double clip_factor(double norm, double highest) {
  constexpr double against_zero = 1e-6;
  return highest > 0 ? std::min(1.0, highest / (norm + against_zero)) : 1.0;
}

AdamW::AdamW(AdamWOptions options, std::span<const std::size_t> sizes) : options_(options) {
  for (const std::size_t size : sizes) {
    first_.emplace_back(size, 0.0f);
    second_.emplace_back(size, 0.0f);
  }
}

void AdamW::step(std::span<const OptimisedBuffer> buffers, std::int64_t step, double learning_rate,
                 double gradient_factor) {
  const double correction1 = 1 - std::pow(options_.beta1, static_cast<double>(step));
  const double correction2 = 1 - std::pow(options_.beta2, static_cast<double>(step));
  const auto factor = static_cast<float>(gradient_factor);
  const auto beta1 = static_cast<float>(options_.beta1), rest1 = static_cast<float>(1 - options_.beta1);
  const auto beta2 = static_cast<float>(options_.beta2), rest2 = static_cast<float>(1 - options_.beta2);
  const auto step_size = static_cast<float>(learning_rate / correction1);
  const auto root_correction2 = static_cast<float>(std::sqrt(correction2));
  const auto epsilon = static_cast<float>(options_.epsilon);
  const auto decay = static_cast<float>(learning_rate * options_.weight_decay);

  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::size_t size = buffers[i].gradient.size();
    float* const __restrict values = buffers[i].values.data();
    const float* const __restrict gradients = buffers[i].gradient.data();
    float* const __restrict first = first_[i].data();
    float* const __restrict second = second_[i].data();
    const float shrink = buffers[i].decayed ? decay : 0.0f;
    for (std::size_t j = 0; j < size; ++j) {
      const float gradient = gradients[j] * factor;
      first[j] = first[j] * beta1 + gradient * rest1;
      second[j] = second[j] * beta2 + gradient * gradient * rest2;
      const float denominator = std::sqrt(second[j]) / root_correction2 + epsilon;
      values[j] -= shrink * values[j] + step_size * (first[j] / denominator);
    }
  }
}

}  // namespace mambarium
