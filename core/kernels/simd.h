// Which vector instructions the kernels run with on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mambarium::kernels {

// Every target that was compiled in and that this processor has, the best first: "AVX3", "AVX2", "SSE4", ...
std::vector<std::string> simd_targets();

// From now on the kernels use this target (one of simd_targets(); "" for the best again). For tests and measurements;
// not while a kernel runs.
void use_simd_target(const std::string& name);

}  // namespace mambarium::kernels
