// Token embedding: a row of the table [states][d_model] for every token.
#pragma once

#include <cstdint>

#include "gpu/stages/panel.h"

namespace mambarium::gpu {

template <class Team>
MAMBARIUM_HOST_DEVICE void embed(const Team& team, int rows, int d_model, const std::int64_t* tokens,
                                 const float* table, NumbersOut out) {
  team.each(rows * d_model, [&](int i) {
    const int t = i / d_model, c = i % d_model;
    out.at(t, c) = table[static_cast<int>(tokens[t]) * d_model + c];
  });
}

// dtable is added to. Every number of the table looks for its own tokens: slow for many states, but in order.
template <class Team>
MAMBARIUM_HOST_DEVICE void embed_backward(const Team& team, int rows, int states, int d_model,
                                          const std::int64_t* tokens, Numbers dout, float* dtable) {
  team.each(states * d_model, [&](int i) {
    const int state = i / d_model, c = i % d_model;
    float sum = 0.0f;
    for (int t = 0; t < rows; ++t) sum += tokens[t] == state ? dout.at(t, c) : 0.0f;
    dtable[i] += sum;
  });
}

}  // namespace mambarium::gpu
