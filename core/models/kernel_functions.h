// The kernels of core/kernels as LibTorch functions with a backward pass: what a model of any size is composed of where
// it is not one kernel as a whole (mamba2_kernels.h). The same functions on plain operators are in operators.h.
//
// Tensors are float32 on the CPU, contiguous or made so; undefined ones stand for what is not there. What is
// kept for the backward pass is at most of the inputs' size (the inputs themselves, slopes, a scan's checkpoints), and
// the rest is computed again: O(inputs) memory, whatever T. `threads` share the sequences; no result depends on how
// many. Shapes that do not fit throw std::invalid_argument, one sentence.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/kernels/activation.h"
#include "core/models/operators.h"

namespace mambarium::fused {

// Mamba-2 (core/kernels/selective_scan.h): x [b, T, H, P], dt and a [b, T, H], B and C [b, T, groups * N], h0 [b, H, P,
// N]. Gradients flow through y and through the last state.
operators::ScanResult selective_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& a,
                                     const at::Tensor& B, const at::Tensor& C, const at::Tensor& h0 = {},
                                     std::int64_t groups = 1, int threads = 1);

// Mamba-1 (core/kernels/diagonal_scan.h): x and dt [b, T, D], B and C [b, T, N], A [D, N], h0 [b, D, N]; y [b, T, D],
// state [b, D, N].
operators::ScanResult diagonal_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                                    const at::Tensor& A, const at::Tensor& h0 = {}, int threads = 1);

// Mamba-1 with its states coupled inside every channel (core/kernels/coupled_scan.h), beside the above: P [N, r] (times
// the scale k already, so that autograd outside gives k its gradient) and Q [r, N], or for every channel its own: [D,
// N, r] and [D, r, N]; 1 <= r <= 16. z (null: not wanted) receives Q h_t after each token, [b, T, D, r], without
// gradient.
operators::ScanResult coupled_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                                   const at::Tensor& A, const at::Tensor& P, const at::Tensor& Q, CouplingForm form,
                                   const at::Tensor& h0 = {}, int threads = 1, at::Tensor* z = nullptr);

// act(convolution): input [b, T, channels], weight [channels, w] (index w-1 is the current token), bias [channels].
at::Tensor causal_convolution(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                              Activation activation, int threads = 1);

// core/kernels/rms_norm.h: input and gate [..., width], weight [width].
at::Tensor rms_norm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& gate = {},
                    std::int64_t groups = 1, bool norm_before_gate = false);

// core/kernels/softmax_cross_entropy.h: the mean over the targets [rows] that are not -1; logits [rows, width], of
// which the first `vocabulary` columns count.
at::Tensor softmax_cross_entropy(const at::Tensor& logits, const at::Tensor& targets, std::int64_t vocabulary,
                                 int threads = 1);

}  // namespace mambarium::fused
