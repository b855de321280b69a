// The selective scan of Mamba-2, forward and backward, on raw pointers (paper 1, section 2.2).
//
//   H_t = a_t H_{t-1} + (dt_t x_t) B_t^T      H in R^{P x N} per head
//   y_t = H_t C_t
//
// One function, three ways to compute it: `reference` (plain loops, float or double; the oracle), the fast one
// (float32, run-time dispatch between AVX-512, AVX2 and portable, in one of two layouts under scan/: channels in lanes,
// token by token, and matrix products over chunks of tokens), and operators::selective_scan in core/models. Decays are
// multiplied, never differenced in log space: a_t = 1e-30 and 0 are as accurate as 0.99. Any T >= 1, P >= 1, N >= 1.
//
// Every input is addressed by a row stride per (sequence, token): rows may lie inside a wider tensor. Within a row x
// holds H*P numbers, dt and a hold H, B and C hold G*N, all contiguous; head h uses group h / (H / G) of B and C, G
// divides H. Threads: sequences are split over `threads`; results do not depend on how many. NaN reaches no token
// before it. Denormals count as zero inside.
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"
#include "core/kernels/scratch.h"

namespace mambarium::kernels {

struct ScanShape {
  std::int64_t batch = 0, length = 0, heads = 1, headdim = 0, d_state = 0, groups = 1;
};

template <class Real>
struct ScanInputs {
  Rows<const Real> x, dt, a, B, C;
  const Real* h0 = nullptr;  // [batch, H, P, N] or null for zeros
};

template <class Real>
struct ScanGradients {  // written, not added to; null data: not wanted
  Rows<Real> x, dt, a, B, C;
  Real* h0 = nullptr;
};

// y [batch, T, H*P]; h_final [batch, H, P, N] or null. dh_final may be null for zeros.
template <class Real>
void selective_scan_reference(const ScanShape& shape, const ScanInputs<Real>& inputs, Rows<Real> y, Real* h_final);
template <class Real>
void selective_scan_backward_reference(const ScanShape& shape, const ScanInputs<Real>& inputs, Rows<const Real> dy,
                                       const Real* dh_final, const ScanGradients<Real>& gradients);

void selective_scan(const ScanShape& shape, const ScanInputs<float>& inputs, Rows<float> y, float* h_final,
                    int threads);
// Keeps nothing of the forward pass: it computes the states again, from checkpoints where there are many. Scratch per
// thread: at most about 5 MiB, or O(sqrt(T) P N) where one head needs more than that.
void selective_scan_backward(const ScanShape& shape, const ScanInputs<float>& inputs, Rows<const float> dy,
                             const float* dh_final, const ScanGradients<float>& gradients, int threads);

// The same for sequence b alone, on the calling thread, for kernels that fuse the scan with what surrounds it.
void selective_scan_sequence(const ScanShape& shape, const ScanInputs<float>& inputs, std::int64_t b, Rows<float> y,
                             float* h_final, Scratch& scratch);
void selective_scan_backward_sequence(const ScanShape& shape, const ScanInputs<float>& inputs, std::int64_t b,
                                      Rows<const float> dy, const float* dh_final,
                                      const ScanGradients<float>& gradients, Scratch& scratch);

}  // namespace mambarium::kernels
