// The parts of the models' blocks as plain LibTorch operators: any dtype, autograd by LibTorch. The reference of the
// models.
//
// b sequences, T tokens, H heads, P = headdim, N = d_state. Rows [b, T, width].
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/kernels/coupled_scan.h"
#include "core/models/mamba2_options.h"

namespace mambarium {

using kernels::CouplingForm;

}  // namespace mambarium

namespace mambarium::operators {

at::Tensor activate(const at::Tensor& input, Activation activation);

inline constexpr double layer_norm_epsilon = 1e-5;
at::Tensor layer_norm(const at::Tensor& input, const at::Tensor& weight);  // no bias; over the last dimension

// Depthwise, causal. input [b, T, channels], weight [channels, w] (index w-1 is the current token), bias [channels] or
// undefined for none, past [b, w-1, channels]: the inputs before the first (undefined: zeros).
at::Tensor causal_convolution(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                              const at::Tensor& past = {});
// The same convolution, with `past` (null: none is kept) read and advanced by T tokens.
at::Tensor continued_convolution(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                                 at::Tensor* past);

// H_t = a_t H_{t-1} + (dt_t x_t) B_t^T, y_t = H_t C_t (paper 1, section 2.2), in chunks of up to `chunk` (a power of
// two) tokens: a masked product within a chunk, a recurrence between chunks. Decays are built by multiplication alone,
// never by differences of logarithms, so that a_t = 0 is as good as any; T need not be a multiple of the chunk. x [b,
// T, H, P], dt and a [b, T, H] (or [1, T, H]: the same for all sequences), B and C [b, T, N], h0 [b, H, P, N] or
// undefined for zeros.
struct ScanResult {
  at::Tensor y;      // [b, T, H, P]
  at::Tensor state;  // [b, H, P, N] after the last token
};
ScanResult selective_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& a, const at::Tensor& B,
                          const at::Tensor& C, const at::Tensor& h0 = {}, std::int64_t chunk = 64);

// The scans of Mamba-1, token by token: core/kernels/diagonal_scan.h and, with a coupling of the states inside every
// channel, coupled_scan.h. x and dt [b, T, D], B and C [b, T, N], A [D, N], h0 [b, D, N] or undefined for zeros; y [b,
// T, D], state [b, D, N]. P [N, r] (k P already) and Q [r, N], or for every channel its own: [D, N, r] and [D, r, N]. z
// (null: not wanted) receives Q h_t after each token, [b, T, D, r].
ScanResult diagonal_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                         const at::Tensor& A, const at::Tensor& h0);
ScanResult coupled_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                        const at::Tensor& A, const at::Tensor& P, const at::Tensor& Q, CouplingForm form,
                        const at::Tensor& h0 = {}, at::Tensor* z = nullptr);

// logits [..., S] -> log-probabilities. L1: p = (relu(logit) + 1e-5) / sum.
at::Tensor read_out(const at::Tensor& logits, Readout readout);

}  // namespace mambarium::operators
