// wkv: the recurrence of RWKV-4 (Peng et al. 2023, "RWKV: Reinventing RNNs for the Transformer Era", time mixing), on
// raw numbers, one sequence at a time. Every channel is on its own:
//
//   y_t = (sum_{i<t} e^{k_i - (t-1-i) w} v_i + e^{u + k_t} v_t) / (sum_{i<t} e^{k_i - (t-1-i) w} + e^{u + k_t})
//
// an average of the values so far, in which a token's weight falls by e^{-w} a step and the current one has a bonus u.
// Both sums are kept divided by e^p, where p is the largest exponent in them so far, decayed like them: all that is
// ever exponentiated is at most 0, so keys of any size overflow nothing.
//
// Real is float or double. Arrays are dense, T = length, C = channels. In float the exponential is a polynomial, right
// to 2 units in the last place; in double the standard library's. Thread-safe.
#pragma once

#include <cstdint>

namespace mambarium {

struct WkvShape {
  std::int64_t length = 0, channels = 0;
};

// A state is [3][C]: the upper sum and the lower sum, both divided by e^p, and p. Null: no token came before.
template <class Real>
struct WkvInputs {
  const Real *k = nullptr, *v = nullptr;  // [T][C]
  const Real *w = nullptr, *u = nullptr;  // [C]; w > 0
  const Real* state = nullptr;            // before the first token
};

// All are written. state is null where it is not wanted: the gradient of both sums for the p that they came with, 0 for
// p itself (the sums alone say what is remembered; p is only how they are written down).
template <class Real>
struct WkvGradients {
  Real *k = nullptr, *v = nullptr;  // [T][C]
  Real *w = nullptr, *u = nullptr;  // [C], sums over the sequence
  Real* state = nullptr;            // [3][C]
};

// Writes y [T][C] and the state after the last token (which may lie where in.state does).
template <class Real>
void wkv(const WkvShape& shape, const WkvInputs<Real>& in, Real* y, Real* last_state);

// dy [T][C]; dstate [3][C] of the last state, whose third row is not read, or null for zeros. scratch: numbers of
// wkv_scratch(). The states are computed again from the inputs: O(T) memory for the sequence at hand, none kept before.
template <class Real>
void wkv_backward(const WkvShape& shape, const WkvInputs<Real>& in, const Real* dy, const Real* dstate,
                  const WkvGradients<Real>& out, Real* scratch);
std::int64_t wkv_scratch(const WkvShape& shape);

}  // namespace mambarium
