// The matrix products of wide models, cut for threads.
#pragma once

#include <ATen/core/Tensor.h>

namespace mambarium::fused {

// u [..., in] times the transpose of weight [out, in]: [..., out], float32 on the CPU, with a backward pass to both. A
// product with LibTorch's BLAS, cut by the sizes alone, so that no bit of it depends on the number of threads. BLAS
// itself must have one thread (torch_threads()).
at::Tensor threaded_linear(const at::Tensor& u, const at::Tensor& weight, int threads);

}  // namespace mambarium::fused
