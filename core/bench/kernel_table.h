// What each kernel beside the Mamba-2 scan does a second, forward and backward, as a ratio to LibTorch operators in the
// same minutes and as a share of the measured peak. kernel_cases.h says what the operators are and how FLOPs and bytes
// are counted.
//
// Not thread-safe: it sets the process's thread count (configure_runtime), which also keeps memory between calls.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/bench/kernel_cases.h"

namespace mambarium {

struct KernelSpeed {  // tokens or rows a second of forward and backward
  std::string kernel, shape, operators, unit;
  double fused = 0, torch = 0, torch_two_threads = 0;
  double flops = 0, bytes = 0;  // per token or row
  double difference = 0;        // between the results of the two, before they were timed

  double ratio() const;  // one thread, to the better of the operators
};

// Throws std::runtime_error, naming the kernel, where the two do not agree: the time of a wrong result is none.
KernelSpeed time_kernel(const KernelCase& pair, const BenchOptions& options);
std::vector<KernelSpeed> time_kernels(const KernelSizes& sizes, const BenchOptions& options);

// peak: FLOP a second of one thread.
nlohmann::json to_json(const std::vector<KernelSpeed>& kernels, double peak);
std::string to_markdown(const std::vector<KernelSpeed>& kernels, double peak);

}  // namespace mambarium
