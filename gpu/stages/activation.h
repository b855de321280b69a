// The pointwise functions of the models, with their derivatives. Both tails are finite and exact: no clamp, no
// difference of large numbers. NaN passes through.
#pragma once

#include <cmath>

#include "core/kernels/activation.h"
#include "gpu/host_device.h"

namespace mambarium::gpu {

// 1 / (1 + exp(-x)): exp overflows to infinity for very negative x, which gives 0.
MAMBARIUM_HOST_DEVICE inline float sigmoid(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}

// max(x, 0) + log1p(exp(-|x|)).
MAMBARIUM_HOST_DEVICE inline float softplus(float x) {
  return (x < 0.0f ? 0.0f : x) + std::log1p(std::exp(x < 0.0f ? x : -x));
}

struct Activated {
  float value = 0.0f, slope = 0.0f;
};

MAMBARIUM_HOST_DEVICE inline Activated activated(float x, Activation activation) {
  if (activation == Activation::none) return {x, 1.0f};
  if (activation == Activation::relu) return {x < 0.0f ? 0.0f : x, x > 0.0f ? 1.0f : 0.0f};
  const float rises = sigmoid(x), falls = sigmoid(-x);
  return {x * rises, rises + x * rises * falls};
}

}  // namespace mambarium::gpu
