// LatentSystem: the state of one channel of a scan with a low-rank coupling, and the flow fields of z = Q h that it
// gives. A is negative as in the models (A = -exp(A_log)), P is k P, b = B_t x_t the input of one token:
//
//     dh/dt = A . h + P Q h + b
//     euler:  h_t = exp(dt A) . h_{t-1} + dt P z_{t-1} + dt b
//     etd:    h_t = exp(dt A) . h_{t-1} + phi . (P z_{t-1}) + dt b,   phi = (exp(dt A) - 1) / A
//
// z alone does not say where h is when r < n, so a field of z needs a lift z -> h. All fields here are affine in z and
// belong to one input b that stands still. Everything is a pure function: any thread. Everything throws
// std::invalid_argument as check_system does, or where b does not hold n finite numbers or dt is not above 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/flow/affine_field.h"

namespace mambarium {

struct LatentSystem {
  std::int64_t n = 0, r = 0;
  std::vector<double> A;  // [n], below 0
  std::vector<double> P;  // [n, r]
  std::vector<double> Q;  // [r, n]
};

// Throws std::invalid_argument unless n, r >= 1, the sizes fit, all numbers are finite and A is negative.
void check_system(const LatentSystem& system);

enum class UpdateForm { continuous, euler, etd };

struct StateUpdate {
  UpdateForm form = UpdateForm::continuous;
  double dt = 1;  // of euler and etd
};

// One token's factors of euler and etd: h_t = decay . h_{t-1} + coupling . (P z_{t-1}) + dt b.
struct TokenFactors {
  std::vector<double> decay, coupling;  // [n]
};
TokenFactors token_factors(std::span<const double> A, const StateUpdate& update);

// The whole system, in h: a velocity (continuous) or the displacement of one token. fixed_point() of it is the state
// that this input leads to, its eigenvalues say whether it does.
AffineField full_field(const LatentSystem& system, std::span<const double> b, const StateUpdate& update = {});

// The steady-state lift: h is where it would come to rest if z were held, h(z) = -(P z + b) / A, and v(z) = Q h(z) - z.
// Its zeros are exactly the fixed points of the whole system under the same update. It is a velocity with the
// relaxation of h as its unit of time: where the zero is, is the model's; whether the model goes there is for the
// eigenvalues of full_field.
AffineField steady_state_field(const LatentSystem& system, std::span<const double> b, const StateUpdate& update = {});

// The minimum-norm lift h(z) = Q^+ z, v(z) = Q (A . Q^+ z) + Q P z + Q b, or one token's displacement. Where Q has rank
// r it is the true velocity of the smallest state with this z; its zero is in general no fixed point of the system.
AffineField minimum_norm_field(const LatentSystem& system, std::span<const double> b, const StateUpdate& update = {});

// The same from a known state h [n]: the lift that changes it least, h(z) = h + Q^+ (z - Q h). At z = Q h it is the
// true velocity of the system.
AffineField minimum_change_field(const LatentSystem& system, std::span<const double> b, std::span<const double> h,
                                 const StateUpdate& update = {});

// z = Q h, r numbers.
std::vector<double> read_state(const LatentSystem& system, std::span<const double> h);

}  // namespace mambarium
