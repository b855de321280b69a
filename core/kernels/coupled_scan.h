// The selective scan of Mamba-1 with a coupling of rank r between the states of a channel (Motif-Mamba), forward and
// backward, on raw pointers. Through z = Q h, r numbers per channel, every state of a channel hears of the others:
//
//   z_{t-1} = Q h_{t-1}
//   euler   h_t = exp(dt_t A) . h_{t-1} + dt_t P z_{t-1} + dt_t x_t B_t
//   etd     h_t = exp(dt_t A) . h_{t-1} + phi_t . (P z_{t-1}) + dt_t x_t B_t,   phi_t[n] = (exp(dt_t A_n) - 1) / A_n
//   y_t     = <C_t, h_t>
//
// Euler adds the coupling as it is and is stable while exp(dt A) + dt P Q contracts; etd integrates it exactly over a
// step with z held, and contracts for every dt where sum_j |(P Q)_nj| < -A_n. P carries the scale k already (P = k
// M_I); the gradient of k is <dP, M_I>. P and Q are one pair for all channels or, with per_channel, one for each.
// Channels never mix. phi is accurate to a few roundings for every dt A, A = 0 included (phi = dt): it comes with
// exp(dt A) of one range reduction. In the fast etd scan, where P is not 0, an A above -1e-16 counts as -1e-16, and a
// decay below exp(-87) is at most 2e-38 instead of 0.
//
// Where all of P is 0 the coupling is left out of the arithmetic: outputs and the gradients of everything but P are
// those of diagonal_scan, bit for bit. The gradient of P is what it is beside any other P.
//
// The rest is as in diagonal_scan.h: dt >= 0, A <= 0, rows, ranges, null for what is not there or not wanted,
// `reference` functions as the oracle, threads that share the sequences and change no bit, denormals as zero. Any T, D,
// N >= 1, ranks 1 to 16; another rank throws std::invalid_argument.
//
// Equations: the recurrence is paper 2's (explicit Euler for the coupling); its gradients, with u_t = P^T g_t and
// g_t = dL/dh_t:  dP += dt_t g_t z_{t-1}^T,  dQ += dt_t u_t h_{t-1}^T,  g_{t-1} += dt_t Q^T u_t  (etd: phi_t . g_t for
// dt_t g_t).
#pragma once

#include <cstdint>

#include "core/kernels/diagonal_scan.h"
#include "core/kernels/rows.h"

namespace mambarium::kernels {

enum class CouplingForm { euler, etd };

inline constexpr std::int64_t largest_coupling_rank = 16;

struct CoupledScanShape {
  std::int64_t batch = 0, length = 0, channels = 0, d_state = 0, rank = 0;
  bool per_channel = false;
  CouplingForm form = CouplingForm::euler;
  DiagonalScanShape diagonal() const {
    return {.batch = batch, .length = length, .channels = channels, .d_state = d_state};
  }
};

template <class Real>
struct CoupledScanInputs {
  Rows<const Real> x, dt, B, C;
  const Real* A = nullptr;   // [D, N]
  const Real* P = nullptr;   // [N, r], per_channel [D, N, r]
  const Real* Q = nullptr;   // [r, N], per_channel [D, r, N]
  const Real* h0 = nullptr;  // [batch, D, N] or null for zeros
};

template <class Real>
struct CoupledScanGradients {  // written, not added to; null data: not wanted
  Rows<Real> x, dt, B, C;
  Real* A = nullptr;  // A, P and Q: sums over the batch (P and Q, if shared, over the channels too)
  Real* P = nullptr;
  Real* Q = nullptr;
  Real* h0 = nullptr;
};

// y [batch, T, D]; h_final [batch, D, N] or null; z: rows of D r numbers, z_t = Q h_t after each token, [batch, T, D,
// r]. dh_final may be null for zeros.
template <class Real>
void coupled_scan_reference(const CoupledScanShape& shape, const CoupledScanInputs<Real>& inputs, Rows<Real> y,
                            Real* h_final, Rows<Real> z = {});
template <class Real>
void coupled_scan_backward_reference(const CoupledScanShape& shape, const CoupledScanInputs<Real>& inputs,
                                     Rows<const Real> dy, const Real* dh_final,
                                     const CoupledScanGradients<Real>& gradients);

// The same scan as `corrections` + 1 diagonal scans, each driven by the z of the one before (Picard iteration from
// z = 0): every scan is parallel over tokens in principle. A correction reduces the error by about |P Q| / |A|; after
// T - 1 of them it is 0. Plain loops. Returns the largest change of y in the last correction, in parts of the largest
// |y|: about the error of the scan before. Infinite where corrections = 0.
template <class Real>
double coupled_scan_picard(const CoupledScanShape& shape, const CoupledScanInputs<Real>& inputs, int corrections,
                           Rows<Real> y, Real* h_final);

// How many numbers `checkpoints` holds: the states before each chunk of about sqrt(T) tokens (32 at most), padded.
std::int64_t coupled_scan_checkpoints(const CoupledScanShape& shape);

// checkpoints: null, or room for the states that backward would otherwise have to compute again.
void coupled_scan(const CoupledScanShape& shape, const CoupledScanInputs<float>& inputs, Rows<float> y, float* h_final,
                  Rows<float> z, float* checkpoints, int threads);
// checkpoints: what the forward pass left for the same inputs, or null. Scratch beyond it: a chunk of states and decays
// of a few channels per thread, and at most 16 copies of A, P and Q.
void coupled_scan_backward(const CoupledScanShape& shape, const CoupledScanInputs<float>& inputs,
                           const float* checkpoints, Rows<const float> dy, const float* dh_final,
                           const CoupledScanGradients<float>& gradients, int threads);

}  // namespace mambarium::kernels
