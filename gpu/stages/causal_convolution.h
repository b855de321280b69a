// Depthwise causal convolution with bias and activation, a piece of a sequence at a time:
//
//   out(t, c) = act(bias(c) + sum over i < w of taps(c, i) in(t - (w-1) + i, c))
//
// taps [channels][w], the current token last. Rows of the piece count from 0; `before` says how many rows lie before
// them, at negative indices (rows further back are zero), and `after` how many behind them.
#pragma once

#include "gpu/stages/activation.h"
#include "gpu/stages/panel.h"

namespace mambarium::gpu {

struct Taps {
  int channels = 0, window = 1;
  const float* taps = nullptr;
  const float* bias = nullptr;
};

MAMBARIUM_HOST_DEVICE inline float convolved(const Taps& with, Numbers in, int before, int t, int c) {
  float sum = with.bias[c];
  for (int i = 0; i < with.window; ++i) {
    const int from = t - (with.window - 1) + i;
    if (from >= -before) sum += with.taps[c * with.window + i] * in.at(from, c);
  }
  return sum;
}

// slope (data may be null: not wanted) receives the activation's derivative.
template <class Team>
MAMBARIUM_HOST_DEVICE void causal_convolution(const Team& team, int rows, const Taps& with, Numbers in, int before,
                                              Activation activation, NumbersOut out, NumbersOut slope) {
  team.each(rows * with.channels, [&](int i) {
    const int t = i / with.channels, c = i % with.channels;
    const Activated active = activated(convolved(with, in, before, t, c), activation);
    out.at(t, c) = active.value;
    if (slope.data != nullptr) slope.at(t, c) = active.slope;
  });
}

// `inner` holds dL/d(sum before the activation) of the piece and of the `after` rows behind it. din is written; dtaps
// and dbias are added to, from the rows of the piece alone.
template <class Team>
MAMBARIUM_HOST_DEVICE void causal_convolution_backward(const Team& team, int rows, const Taps& with, Numbers in,
                                                       int before, Numbers inner, int after, NumbersOut din,
                                                       float* dtaps, float* dbias) {
  const int window = with.window;
  team.each(rows * with.channels, [&](int i) {
    const int t = i / with.channels, c = i % with.channels;
    float sum = 0.0f;
    for (int ahead = 0; ahead < window && t + ahead < rows + after; ++ahead) {
      sum += with.taps[c * window + window - 1 - ahead] * inner.at(t + ahead, c);
    }
    din.at(t, c) = sum;
  });
  team.each((window + 1) * with.channels, [&](int i) {
    const int tap = i / with.channels, c = i % with.channels;  // tap w is the bias
    float sum = 0.0f;
    for (int t = 0; t < rows; ++t) {
      const int from = t - (window - 1) + tap;
      if (tap == window) {
        sum += inner.at(t, c);
      } else if (from >= -before) {
        sum += inner.at(t, c) * in.at(from, c);
      }
    }
    (tap == window ? dbias[c] : dtaps[c * window + tap]) += sum;
  });
}

}  // namespace mambarium::gpu
