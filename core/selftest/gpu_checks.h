// The kernels of core/device/gpu.h against LibTorch operators and autograd in float64.
#pragma once

#include <string>
#include <vector>

#include "core/device/gpu.h"
#include "core/selftest/selftest.h"

namespace mambarium {

struct TensorKernels {
  TensorKernel selective_scan, diagonal_scan, causal_convolution;
};

// The scans of Mamba-2 and Mamba-1 and the convolution, the result and every gradient, over shapes from one token on.
std::vector<SelftestCheck> check_tensor_kernels(const TensorKernels& kernels, const std::string& instructions);

}  // namespace mambarium
