// Selftest: every kernel of this program against a float64 reference, on the machine it runs on.
//
// The scans of Mamba-2 and Mamba-1 are held against plain loops in float64, over shapes from one token on and decays
// from exactly 0 to 1, and so are RMSNorm and the cross entropy over large vocabularies; the whole model (in lanes, and
// block by block) against LibTorch operators and autograd in float64, parameter by parameter; the optimiser against its
// formula in float64. All of it once for every set of vector instructions this processor has. Differences are relative
// to the largest number of their tensor, and 2e-5 is allowed; where LibTorch's own float32 operators are further off
// than a quarter of that (sums that cancel), four times what they are off.
// On a GPU: both scans, the convolution, and whole training steps, against LibTorch operators in float64.
//
// Not thread-safe: it switches the kernels' vector instructions while it runs, and back.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace mambarium {

struct SelftestCheck {
  std::string instructions;  // "AVX2", "CUDA"
  std::string path;          // "scan", "Mamba-1 scan", "whole model", "blocks", "optimiser"
  std::string what;          // "gradients of the convolution"
  std::int64_t cases = 0;
  double difference = 0;
  double of_torch = 0;  // how far LibTorch's operators in float32 are off; 0 where they have no part in it
  double bound() const;

  bool passed() const { return difference <= bound(); }  // NaN does not
};

// Calls `tell` for every check as it is done, and returns them all. on_gpu: then also on the GPU, which has to be
// usable (core/device/gpu.h); throws std::runtime_error when it fails.
std::vector<SelftestCheck> run_selftest(const std::function<void(const SelftestCheck&)>& tell = {},
                                        bool on_gpu = false);

nlohmann::json to_json(const std::vector<SelftestCheck>& checks);

}  // namespace mambarium
