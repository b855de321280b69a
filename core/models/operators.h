// The parts of the models' blocks as plain LibTorch operators: any dtype, autograd by LibTorch. The reference of the
// models.
//
// b sequences, T tokens, H heads, P = headdim, N = d_state. Rows [b, T, width].
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/models/mamba2_options.h"

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

// logits [..., S] -> log-probabilities. L1: p = (relu(logit) + 1e-5) / sum.
at::Tensor read_out(const at::Tensor& logits, Readout readout);

}  // namespace mambarium::operators
