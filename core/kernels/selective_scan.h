// The selective scan of Mamba-2, forward and backward, on raw pointers (paper 1, section 2.2).
//
//   H_t = a_t H_{t-1} + (dt_t x_t) B_t^T      H in R^{P x N} per head
//   y_t = H_t C_t
//
// One function, three ways to compute it: `reference` (plain loops, float or double; the oracle), `fast` (float32,
// vectorised over the state, run-time dispatch between AVX-512, AVX2 and portable). Decays are multiplied, never
// differenced in log space: a_t = 1e-30 and 0 are as accurate as 0.99. Any T >= 1, P >= 1, N >= 1.
//
// Every input is addressed by a row stride per (sequence, token): rows may lie inside a wider tensor. Within a row x holds
// H*P numbers, dt and a hold H, B and C hold N (one group, shared by the heads), all contiguous.
// Threads: sequences are split over `threads`; results do not depend on how many.
#pragma once

#include <cstdint>

namespace mambarium::kernels {

template <class Real>
struct Rows {            // a view of [batch, T, width]
  Real* data = nullptr;
  std::int64_t sequence_stride = 0, row_stride = 0;  // in elements
  Real* row(std::int64_t b, std::int64_t t) const { return data + b * sequence_stride + t * row_stride; }
};

struct ScanShape {
  std::int64_t batch = 0, length = 0, heads = 1, headdim = 0, d_state = 0;
};

template <class Real>
struct ScanInputs {
  Rows<const Real> x, dt, a, B, C;
  const Real* h0 = nullptr;  // [batch, H, P, N] or null for zeros
};

template <class Real>
struct ScanGradients {       // written, not added to; null data: not wanted
  Rows<Real> x, dt, a, B, C;
  Real* h0 = nullptr;
};

// y [batch, T, H*P]; h_final [batch, H, P, N] or null.
template <class Real>
void selective_scan_reference(const ScanShape&, const ScanInputs<Real>&, Rows<Real> y, Real* h_final);
template <class Real>
void selective_scan_backward_reference(const ScanShape&, const ScanInputs<Real>&, Rows<const Real> dy, const Real* dh_final,
                                       const ScanGradients<Real>&);

void selective_scan(const ScanShape&, const ScanInputs<float>&, Rows<float> y, float* h_final, int threads);
// Recomputes the states in chunks of about sqrt(T): scratch O(sqrt(T) P N) per thread.
void selective_scan_backward(const ScanShape&, const ScanInputs<float>&, Rows<const float> dy, const float* dh_final,
                             const ScanGradients<float>&, int threads);

}  // namespace mambarium::kernels
