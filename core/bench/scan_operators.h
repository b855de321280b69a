// The scan of Mamba-1 (core/kernels/diagonal_scan.h) on LibTorch operators: what a bench holds the kernel against, and
// independent of it.
//
// Sequential: one addcmul a token, on all sequences, channels and states. Decays, inputs and outputs are computed for
// 16 tokens at a time, which then are still in the cache. Of the forms tried (all tokens at once; chunks that advance
// side by side and are joined by products of decays, as Mamba-2's scan is; channels or states last) it is the quickest:
// with a decay for every channel and state those products are as large as the states, and memory is the limit.
#pragma once

#include <ATen/core/Tensor.h>

namespace mambarium::operators {

// x and dt [b, T, D], B and C [b, T, N], A [D, N]; y [b, T, D]. Any dtype, autograd by LibTorch.
at::Tensor diagonal_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                         const at::Tensor& A);

}  // namespace mambarium::operators
