// BenchTable: how fast this machine trains and scans at the settings the project's figures are given for, each as a
// ratio to plain LibTorch operators in the same minutes, and as a share of what the processor can do.
//
// The operators are given their best: the chunked scan with chunks of 64 tokens, memory that is kept between steps, and
// the better of one and two threads. The peak is the best of three measurements,
// before, between and after: fused multiply-adds in registers, one thread.
//
// FLOPs are counted from the formulas, not measured: an engine that finds results instead of computing them does the
// model's FLOPs all the same. A training step: two for every weight of a matrix product and every token, five per
// number of the scan's state; three times that for forward and backward together. A scan: 5 P N forward, 14 P N
// backward (which computes the states again); its bytes are the inputs and outputs, once each. The other kernels are
// kernel_table.h's.
//
// Not thread-safe: it sets the process's thread count (configure_runtime).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/bench/kernel_table.h"
#include "core/bench/subject.h"
#include "core/contract/experiment_config.h"
#include "core/kernels/selective_scan.h"

namespace mambarium {

struct TrainingSpeed {  // tokens a second of the whole step: data, forward, backward, optimiser
  std::string setting;
  ExperimentConfig config;
  std::int64_t parameter_count = 0;
  double fused = 0, fused_two_threads = 0, torch = 0, torch_two_threads = 0;
  double gpu = 0;  // 0: not measured
  double flops_per_token = 0;

  double ratio() const;  // one thread, to the better of the operators
};

struct ScanSpeed {  // tokens a second of forward and backward, one thread
  std::int64_t headdim = 0, d_state = 0, length = 0, batch = 0;
  double fused_forward = 0, fused = 0, torch = 0;  // fused: forward and backward
  double flops_forward = 0, flops = 0, bytes = 0;  // per token
};

struct GpuScanSpeed {  // tokens a second of the forward pass
  kernels::ScanShape shape;
  double forward = 0;
  double bytes() const;  // per token: inputs and outputs, once each
};

struct BenchTable {
  double peak = 0;  // FLOP a second, one thread
  std::vector<TrainingSpeed> training;
  std::vector<ScanSpeed> scans;
  std::vector<KernelSpeed> kernels;
  std::string gpu;  // in words; empty: not measured
  std::vector<GpuScanSpeed> gpu_scans;
};

// Training steps take `batch` sequences of `length` tokens; scans a quarter as many, as long and four times as long,
// and on a GPU, which is to be filled, four times as many. The figures are given for what stands here; a test wants
// less.
BenchTable run_bench_table(const BenchOptions& options = {}, std::int64_t batch = 64, std::int64_t length = 512,
                           const KernelSizes& kernels = {});

nlohmann::json to_json(const BenchTable& table);
std::string to_markdown(const BenchTable& table);

}  // namespace mambarium
