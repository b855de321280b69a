// The D skip: y_t += D x_t, one D per head of `headdim` channels.
#pragma once

#include "gpu/stages/panel.h"

namespace mambarium::gpu {

template <class Team>
MAMBARIUM_HOST_DEVICE void skip(const Team& team, int rows, int heads, int headdim, Numbers x, const float* D,
                                NumbersOut y) {
  const int channels = heads * headdim;
  team.each(rows * channels, [&](int i) {
    const int t = i / channels, c = i % channels;
    y.at(t, c) += D[c / headdim] * x.at(t, c);
  });
}

// dx and dD are added to; of_channel: room for heads * headdim numbers.
template <class Team>
MAMBARIUM_HOST_DEVICE void skip_backward(const Team& team, int rows, int heads, int headdim, Numbers x, const float* D,
                                         Numbers dy, NumbersOut dx, float* dD, float* of_channel) {
  const int channels = heads * headdim;
  team.each(channels, [&](int c) {
    float sum = 0.0f;
    for (int t = 0; t < rows; ++t) {
      dx.at(t, c) += D[c / headdim] * dy.at(t, c);
      sum += dy.at(t, c) * x.at(t, c);
    }
    of_channel[c] = sum;
  });
  team.each(heads, [&](int head) {
    float sum = 0.0f;
    for (int c = head * headdim; c < (head + 1) * headdim; ++c) sum += of_channel[c];
    dD[head] += sum;
  });
}

}  // namespace mambarium::gpu
