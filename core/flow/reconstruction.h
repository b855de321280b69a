// Lemma 2: the latent trajectory, the inputs and the first state say what every state was. With Phi(t, s) =
// exp(A (dt_{s+1} + ... + dt_t)), diagonal, and the coupling factor g_s = dt_s (euler) or phi_s (etd):
//
//     h_t = Phi(t, 0) h_0 + sum_{s=1..t} Phi(t, s) [g_s . (P z_{s-1}) + dt_s b_s],     b_s = B_s x_s
//
// Applying Q gives an equation in z alone, z_t from h_0, the inputs and z_0 .. z_{t-1}: its memory reaches back to the
// first token. z_t by itself does not determine h_t where r < n.
//
// T tokens; z is [T, r], z_0 .. z_{T-1} (before each token); states come as [T, n], h_1 .. h_T (after each). Everything
// throws std::invalid_argument on sizes that do not fit and numbers that are not finite. Pure functions: any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/flow/latent_system.h"

namespace mambarium {

struct ReplayInputs {
  UpdateForm form = UpdateForm::euler;  // or etd
  std::vector<double> h0;               // [n]
  std::vector<double> dt;               // [T], above 0
  std::vector<double> b;                // [T, n]: B_t x_t
};

// The sum of the lemma, carried along token by token: h [T, n]. The coupling is driven by the z given, never by Q h.
std::vector<double> replay_states(const LatentSystem& system, const ReplayInputs& inputs, std::span<const double> z);

// Q times the sum of the lemma with nothing carried along: z_1 .. z_T [T, r] as each follows from z_0 .. z_{t-1}.
// O(T^2 n).
std::vector<double> latent_from_history(const LatentSystem& system, const ReplayInputs& inputs,
                                        std::span<const double> z);

struct ReplayError {
  std::vector<double> per_token;  // [T]: the largest |difference| of the n states after each token
  double largest = 0;
  std::int64_t largest_token = 0;  // 0 .. T-1
  double largest_state = 0;        // max |h|, what `largest` is to be compared with
};

// How far the replayed states are from the true ones, h [T, n]. A NaN in either is the largest error.
ReplayError replay_error(const LatentSystem& system, const ReplayInputs& inputs, std::span<const double> z,
                         std::span<const double> h);

}  // namespace mambarium
