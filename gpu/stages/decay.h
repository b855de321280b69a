// Step size and decay of every head (core/kernels/decay.h):
//
//   dt_t = softplus(raw_t + dt_bias),  a_t = exp(-exp(A_log) dt_t), or 1 where A_log is null
//
// All panels are [rows, heads]. a_t may come out as 0 exactly; nothing here divides by it or takes its logarithm.
#pragma once

#include "gpu/stages/activation.h"
#include "gpu/stages/panel.h"

namespace mambarium::gpu {

template <class Team>
MAMBARIUM_HOST_DEVICE void decay(const Team& team, int rows, int heads, Numbers raw, const float* dt_bias,
                                 const float* A_log, NumbersOut dt, NumbersOut a) {
  team.each(rows * heads, [&](int i) {
    const int t = i / heads, head = i % heads;
    const float step = softplus(raw.at(t, head) + dt_bias[head]);
    dt.at(t, head) = step;
    a.at(t, head) = A_log == nullptr ? 1.0f : std::exp(-std::exp(A_log[head]) * step);
  });
}

// draw is written, d_dt_bias and dA_log (null with A_log) are added to. ddt and da are overwritten.
template <class Team>
MAMBARIUM_HOST_DEVICE void decay_backward(const Team& team, int rows, int heads, Numbers raw, const float* dt_bias,
                                          const float* A_log, Numbers dt, Numbers a, NumbersOut ddt, NumbersOut da,
                                          NumbersOut draw, float* d_dt_bias, float* dA_log) {
  team.each(rows * heads, [&](int i) {
    const int t = i / heads, head = i % heads;
    float into_dt = ddt.at(t, head), into_A_log = 0.0f;
    if (A_log != nullptr) {
      const float rate = -std::exp(A_log[head]), into_exponent = da.at(t, head) * a.at(t, head);
      into_dt += into_exponent * rate;
      into_A_log = into_exponent * rate * dt.at(t, head);
    }
    const float into_raw = into_dt * sigmoid(raw.at(t, head) + dt_bias[head]);
    draw.at(t, head) = into_raw;
    ddt.at(t, head) = into_raw;
    da.at(t, head) = into_A_log;
  });
  team.each(heads, [&](int head) {
    float into_bias = 0.0f, into_A_log = 0.0f;
    for (int t = 0; t < rows; ++t) {
      into_bias += ddt.at(t, head);
      into_A_log += da.at(t, head);
    }
    d_dt_bias[head] += into_bias;
    if (A_log != nullptr) dA_log[head] += into_A_log;
  });
}

}  // namespace mambarium::gpu
