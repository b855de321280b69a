// The selective scan over a piece of a sequence, for any number of channels p that share B and C:
//
//   H_t(p, n) = a_t(p, n) H_{t-1}(p, n) + dt_t(p) x_t(p) B_t(n),   y_t(p) = sum over n of H_t(p, n) C_t(n)
//
// HeadDecay is Mamba-2 (one dt and a per head), StateDecay Mamba-1 (a = exp(dt_t(p) A(p, n))). A state runs along the
// piece in a register of the member that has it; every step of it is also put into `states`, from which sums over p
// and n are taken afterwards, each by one member in a fixed order. Decays are multiplied, never differenced in log
// space, and nothing is divided by them: a_t = 0 and 1e-30 are as good as any. The backward pass goes over pieces from
// the last to the first and computes their states again from H at their start.
//
// Sizes: h, g [channels][d_state]; states [rows + 1][channels][d_state]; adjoints [rows][channels][d_state].
#pragma once

#include <cmath>

#include "gpu/stages/panel.h"

namespace mambarium::gpu {

struct HeadDecay {
  int headdim = 1;
  Numbers dt, a;  // [rows, heads]
  MAMBARIUM_HOST_DEVICE float step(int t, int p) const { return dt.at(t, p / headdim); }
  MAMBARIUM_HOST_DEVICE float factor(int t, int p, int) const { return a.at(t, p / headdim); }
};

struct StateDecay {
  int d_state = 1;
  Numbers dt;                // [rows, channels], after softplus
  const float* A = nullptr;  // [channels][d_state], not positive
  MAMBARIUM_HOST_DEVICE float rate(int p, int n) const { return A[p * d_state + n]; }
  MAMBARIUM_HOST_DEVICE float step(int t, int p) const { return dt.at(t, p); }
  MAMBARIUM_HOST_DEVICE float factor(int t, int p, int n) const { return std::exp(dt.at(t, p) * rate(p, n)); }
};

template <class Decay>
struct ScanPiece {
  int rows = 0, channels = 0, d_state = 0;
  Numbers x, B, C;  // [rows, channels], [rows, d_state]
  Decay decay;

  MAMBARIUM_HOST_DEVICE int state_size() const { return channels * d_state; }
};

// h goes from before the first row to after the last; states (null: not wanted) receives all rows + 1 of them.
template <class Team, class Decay>
MAMBARIUM_HOST_DEVICE void scan_states(const Team& team, const ScanPiece<Decay>& in, float* h, float* states) {
  const int size = in.state_size();
  team.each(size, [&](int i) {
    const int p = i / in.d_state, n = i % in.d_state;
    float state = h[i];
    if (states != nullptr) states[i] = state;
    for (int t = 0; t < in.rows; ++t) {
      state = in.decay.factor(t, p, n) * state + in.decay.step(t, p) * in.x.at(t, p) * in.B.at(t, n);
      if (states != nullptr) states[(t + 1) * size + i] = state;
    }
    h[i] = state;
  });
}

template <class Team, class Decay>
MAMBARIUM_HOST_DEVICE void selective_scan(const Team& team, const ScanPiece<Decay>& in, float* h, float* states,
                                          NumbersOut y) {
  scan_states(team, in, h, states);
  team.each(in.rows * in.channels, [&](int i) {
    const int t = i / in.channels, p = i % in.channels;
    const float* after = states + ((t + 1) * in.channels + p) * in.d_state;
    float sum = 0.0f;
    for (int n = 0; n < in.d_state; ++n) sum += after[n] * in.C.at(t, n);
    y.at(t, p) = sum;
  });
}

struct ScanPieceGradients {  // all written
  NumbersOut x;              // [rows, channels]
  NumbersOut B, C;           // [rows, d_state], from these channels
  NumbersOut dt, a;          // HeadDecay: [rows, heads]; StateDecay: dt [rows, channels], a unused
};

// What both kinds of decay have in common. g goes from dL/dH after the last row to dL/dH before the first, and adjoints
// receives dL/dH_t of every row.
template <class Team, class Decay>
MAMBARIUM_HOST_DEVICE void scan_adjoints(const Team& team, const ScanPiece<Decay>& in, const float* states, Numbers dy,
                                         float* g, float* adjoints, const ScanPieceGradients& out) {
  const int size = in.state_size();
  team.each(size, [&](int i) {
    const int p = i / in.d_state, n = i % in.d_state;
    float adjoint = g[i];
    for (int t = in.rows - 1; t >= 0; --t) {
      adjoint += dy.at(t, p) * in.C.at(t, n);
      adjoints[t * size + i] = adjoint;
      adjoint *= in.decay.factor(t, p, n);
    }
    g[i] = adjoint;
  });
  team.each(in.rows * in.d_state, [&](int i) {
    const int t = i / in.d_state, n = i % in.d_state;
    float into_B = 0.0f, into_C = 0.0f;
    for (int p = 0; p < in.channels; ++p) {
      into_B += adjoints[t * size + p * in.d_state + n] * (in.decay.step(t, p) * in.x.at(t, p));
      into_C += dy.at(t, p) * states[(t + 1) * size + p * in.d_state + n];
    }
    out.B.at(t, n) = into_B;
    out.C.at(t, n) = into_C;
  });
}

// of_channel: room for rows * channels * 2 numbers.
template <class Team>
MAMBARIUM_HOST_DEVICE void selective_scan_backward(const Team& team, const ScanPiece<HeadDecay>& in,
                                                   const float* states, Numbers dy, float* g, float* adjoints,
                                                   float* of_channel, const ScanPieceGradients& out) {
  scan_adjoints(team, in, states, dy, g, adjoints, out);
  const int channels = in.channels, headdim = in.decay.headdim, heads = channels / headdim;
  float* const into_step = of_channel;
  float* const into_factor = of_channel + in.rows * channels;
  team.each(in.rows * channels, [&](int i) {
    const int t = i / channels, p = i % channels;
    const float* before = states + i * in.d_state;
    const float* adjoint = adjoints + i * in.d_state;
    float into_input = 0.0f, sum = 0.0f;
    for (int n = 0; n < in.d_state; ++n) {
      into_input += adjoint[n] * in.B.at(t, n);
      sum += adjoint[n] * before[n];
    }
    out.x.at(t, p) = into_input * in.decay.step(t, p);
    into_step[i] = into_input * in.x.at(t, p);
    into_factor[i] = sum;
  });
  team.each(in.rows * heads, [&](int i) {
    const int t = i / heads, head = i % heads;
    float step = 0.0f, factor = 0.0f;
    for (int p = head * headdim; p < (head + 1) * headdim; ++p) {
      step += into_step[t * channels + p];
      factor += into_factor[t * channels + p];
    }
    out.dt.at(t, head) = step;
    out.a.at(t, head) = factor;
  });
}

// dA [channels][d_state] is added to.
template <class Team>
MAMBARIUM_HOST_DEVICE void selective_scan_backward(const Team& team, const ScanPiece<StateDecay>& in,
                                                   const float* states, Numbers dy, float* g, float* adjoints,
                                                   float* dA, const ScanPieceGradients& out) {
  scan_adjoints(team, in, states, dy, g, adjoints, out);
  const int size = in.state_size();
  team.each(in.rows * in.channels, [&](int i) {
    const int t = i / in.channels, p = i % in.channels;
    const float* before = states + i * in.d_state;
    const float* adjoint = adjoints + i * in.d_state;
    float into_input = 0.0f, into_step = 0.0f;
    for (int n = 0; n < in.d_state; ++n) {
      into_input += adjoint[n] * in.B.at(t, n);
      into_step += adjoint[n] * before[n] * in.decay.factor(t, p, n) * in.decay.rate(p, n);
    }
    out.x.at(t, p) = into_input * in.decay.step(t, p);
    out.dt.at(t, p) = into_step + into_input * in.x.at(t, p);
  });
  team.each(size, [&](int i) {
    const int p = i / in.d_state, n = i % in.d_state;
    float sum = 0.0f;
    for (int t = 0; t < in.rows; ++t) {
      sum += adjoints[t * size + i] * states[t * size + i] * in.decay.factor(t, p, n) * in.decay.step(t, p);
    }
    dA[i] += sum;
  });
}

}  // namespace mambarium::gpu
