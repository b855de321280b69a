// Read-out and cross entropy of logits [rows, states]: log-probabilities of the targets, and in place of the logits
// weight * d(-log p_target) / d logit.
//
//   softmax: log p_s = logit_s - log sum exp(logit);  L1: p_s = (relu(logit_s) + 1e-5) / sum
#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/stages/panel.h"

namespace mambarium::gpu {

inline constexpr float l1_floor = 1e-5f;

// Each returns log p_target.
MAMBARIUM_HOST_DEVICE inline float softmax_row(int states, int target, float weight, float* logits) {
  float largest = logits[0], sum = 0.0f;
  for (int s = 1; s < states; ++s) largest = logits[s] > largest ? logits[s] : largest;
  for (int s = 0; s < states; ++s) sum += std::exp(logits[s] - largest);
  const float log_sum = std::log(sum), log_p_target = logits[target] - largest - log_sum;
  for (int s = 0; s < states; ++s) {
    logits[s] = weight * (std::exp(logits[s] - largest - log_sum) - (s == target ? 1.0f : 0.0f));
  }
  return log_p_target;
}

MAMBARIUM_HOST_DEVICE inline float l1_row(int states, int target, float weight, float* logits) {
  float sum = 0.0f;
  for (int s = 0; s < states; ++s) sum += (logits[s] < 0.0f ? 0.0f : logits[s]) + l1_floor;
  const float share = (logits[target] < 0.0f ? 0.0f : logits[target]) + l1_floor;
  for (int s = 0; s < states; ++s) {
    const float into_share = 1.0f / sum - (s == target ? 1.0f / share : 0.0f);
    logits[s] = logits[s] > 0.0f ? weight * into_share : 0.0f;
  }
  return std::log(share) - std::log(sum);
}

// targets [rows], each below states; log_p [rows].
template <class Team>
MAMBARIUM_HOST_DEVICE void read_out(const Team& team, int rows, int states, bool l1, const std::int64_t* targets,
                                    float weight, NumbersOut logits, float* log_p) {
  team.each(rows, [&](int t) {
    const int target = static_cast<int>(targets[t]);
    log_p[t] =
        l1 ? l1_row(states, target, weight, &logits.at(t, 0)) : softmax_row(states, target, weight, &logits.at(t, 0));
  });
}

}  // namespace mambarium::gpu
