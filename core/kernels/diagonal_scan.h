// The selective scan of Mamba-1, whose decay differs for every channel and state, forward and backward, on raw
// pointers.
//
//   h_t[d][n] = exp(dt_t[d] A[d][n]) h_{t-1}[d][n] + dt_t[d] x_t[d] B_t[n]
//   y_t[d]    = sum_n C_t[n] h_t[d][n]
//
// dt >= 0 is after softplus and A <= 0 is -exp(A_log): both are the caller's, and so are the skip D x and the gate.
// Nothing is differenced in log space. A decay below exp(-87) is exactly 0, and one next to 1 is rounded to float32: a
// state that remembers everything is off by up to 3e-8 per token. Any T, D, N >= 1.
//
// One function, two ways to compute it: `reference` (plain loops, float or double; the oracle) and the fast one
// (float32, vectorised over channels with the states in registers, run-time dispatch). Rows are addressed as in
// selective_scan.h: within a row x and dt hold D numbers, B and C hold N (shared by the channels), all contiguous.
// Threads: sequences are split over `threads`; results do not depend on how many. Denormals count as zero inside.
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"

namespace mambarium::kernels {

struct DiagonalScanShape {
  std::int64_t batch = 0, length = 0, channels = 0, d_state = 0;
};

template <class Real>
struct DiagonalScanInputs {
  Rows<const Real> x, dt, B, C;
  const Real* A = nullptr;   // [D, N]
  const Real* h0 = nullptr;  // [batch, D, N] or null for zeros
};

template <class Real>
struct DiagonalScanGradients {  // written, not added to; null data: not wanted
  Rows<Real> x, dt, B, C;
  Real* A = nullptr;  // the sum over the batch
  Real* h0 = nullptr;
};

// y [batch, T, D]; h_final [batch, D, N] or null. dh_final may be null for zeros.
template <class Real>
void diagonal_scan_reference(const DiagonalScanShape& shape, const DiagonalScanInputs<Real>& inputs, Rows<Real> y,
                             Real* h_final);
template <class Real>
void diagonal_scan_backward_reference(const DiagonalScanShape& shape, const DiagonalScanInputs<Real>& inputs,
                                      Rows<const Real> dy, const Real* dh_final,
                                      const DiagonalScanGradients<Real>& gradients);

// How many numbers `checkpoints` holds: the states before each chunk of about sqrt(T) tokens (32 at most), padded.
std::int64_t diagonal_scan_checkpoints(const DiagonalScanShape& shape);

// checkpoints: null, or room for the states that backward would otherwise have to compute again, a third of its time.
void diagonal_scan(const DiagonalScanShape& shape, const DiagonalScanInputs<float>& inputs, Rows<float> y,
                   float* h_final, float* checkpoints, int threads);
// checkpoints: what the forward pass left for the same inputs, or null. Scratch beyond it: a chunk of states and decays
// of a few channels per thread, and at most 16 copies of A.
void diagonal_scan_backward(const DiagonalScanShape& shape, const DiagonalScanInputs<float>& inputs,
                            const float* checkpoints, Rows<const float> dy, const float* dh_final,
                            const DiagonalScanGradients<float>& gradients, int threads);

}  // namespace mambarium::kernels
