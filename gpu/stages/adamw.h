// AdamW (Loshchilov and Hutter, 2019) with clipping by the global norm, number by number over a flat array: the
// arithmetic of core/training/adamw.h. Numbers that belong to no parameter keep their value and count in no norm.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/kernels/whole_model_layout.h"
#include "gpu/host_device.h"
#include "gpu/stages/team.h"

namespace mambarium::gpu {

using kernels::ParameterRole;

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0;
  double highest_norm = 0;  // of the gradient; 0: no limit
};

// What one step needs, computed once from its number (from 1) and its learning rate.
struct AdamWStep {
  float beta1, rest1, beta2, rest2, step_size, root_correction2, epsilon, decay;
  double highest_norm;
};

inline AdamWStep adamw_step(const AdamWOptions& options, std::int64_t number, double learning_rate) {
  const double correction1 = 1 - std::pow(options.beta1, static_cast<double>(number));
  const double correction2 = 1 - std::pow(options.beta2, static_cast<double>(number));
  return {.beta1 = static_cast<float>(options.beta1),
          .rest1 = static_cast<float>(1 - options.beta1),
          .beta2 = static_cast<float>(options.beta2),
          .rest2 = static_cast<float>(1 - options.beta2),
          .step_size = static_cast<float>(learning_rate / correction1),
          .root_correction2 = static_cast<float>(std::sqrt(correction2)),
          .epsilon = static_cast<float>(options.epsilon),
          .decay = static_cast<float>(learning_rate * options.weight_decay),
          .highest_norm = options.highest_norm};
}

// The sum over sequences of per_sequence [batch][count], in their order.
MAMBARIUM_HOST_DEVICE inline float sum_over_sequences(const float* per_sequence, int batch, std::int64_t count,
                                                      std::int64_t i) {
  double sum = 0;
  for (int b = 0; b < batch; ++b) sum += static_cast<double>(per_sequence[b * count + i]);
  return static_cast<float>(sum);
}

// The sum of squares of `count` gradients, left in strands[0] (ordered_sum).
template <class Team>
MAMBARIUM_HOST_DEVICE void sum_of_squares(const Team& team, int count, const ParameterRole* roles,
                                          const float* gradient, double* strands) {
  const auto square = [&](int i) {
    const double number = roles[i] == ParameterRole::fixed ? 0.0 : static_cast<double>(gradient[i]);
    return number * number;
  };
  ordered_sum(team, count, square, strands);
}

// What gradients are multiplied with so that their norm is at most `highest` (0: no limit).
MAMBARIUM_HOST_DEVICE inline float clip_factor(double norm, double highest) {
  const double factor = highest > 0 ? highest / (norm + 1e-6) : 1.0;
  return static_cast<float>(factor < 1.0 ? factor : 1.0);
}

// One number: weight and moments are updated.
MAMBARIUM_HOST_DEVICE inline void adamw(const AdamWStep& step, ParameterRole role, float gradient, float& weight,
                                        float& first, float& second) {
  if (role == ParameterRole::fixed) return;
  first = first * step.beta1 + gradient * step.rest1;
  second = second * step.beta2 + gradient * gradient * step.rest2;
  const float denominator = std::sqrt(second) / step.root_correction2 + step.epsilon;
  const float shrink = role == ParameterRole::decayed ? step.decay : 0.0f;
  weight -= shrink * weight + step.step_size * (first / denominator);
}

}  // namespace mambarium::gpu
