// The WKV recurrence (core/models/wkv.h) as a LibTorch function with a backward pass: float32 and float64, on the CPU.
//
// k and v [b, T, C], w and u [C], w > 0; y [b, T, C]. state [b, 3, C] as wkv.h has it, undefined where no token came
// before. Gradients flow through y and through the states of consecutive calls, so that a sequence in pieces has the
// gradients of the whole; through the third row of a state, its scale, none flows. Kept for the backward pass: the
// inputs alone. Denormals count as zero inside. `threads` share the sequences; no result depends on how many.
#pragma once

#include <ATen/core/Tensor.h>

namespace mambarium {

struct WkvResult {
  at::Tensor y;      // [b, T, C]
  at::Tensor state;  // [b, 3, C] after the last token
};
WkvResult wkv(const at::Tensor& k, const at::Tensor& v, const at::Tensor& w, const at::Tensor& u,
              const at::Tensor& state = {}, int threads = 1);

}  // namespace mambarium
