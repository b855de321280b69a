// What this program and this machine are: for `info`, for the greeting of `serve`, and to tell what cannot run here.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/contract/experiment_config.h"
#include "core/models/sequence_model.h"

namespace mambarium {

struct Machine {
  std::string program_version, revision, torch_version, compiler;
  std::string host, cpu, simd;  // simd: the vector instruction set the kernels choose here
  std::string blas;             // the kernels of OpenBLAS; empty where LibTorch has another BLAS
  std::int64_t cores = 1;
  double memory_bytes = 0;
  bool cuda_usable = false;
  std::string cuda;  // in words: what can be used, or why nothing can
};
Machine this_machine();
nlohmann::json to_json(const Machine& machine);

std::string host_name();

// Why this configuration cannot be trained here although it is valid: a device that is not usable or not the engine's,
// or more memory than there is. What looks into a run computes on the CPU and minds the memory alone.
std::optional<Problem> unfit_for_this_machine(const ExperimentConfig& config, Engine engine);
std::optional<Problem> too_large_for_this_machine(const ExperimentConfig& config);

// For a command's --device: throws CommandError (bad input) with the sentence that says why CUDA is not usable here.
void need_cuda();

// The device that run.device means here: "cpu" or "cuda".
std::string resolved_device(const ExperimentConfig& config);

}  // namespace mambarium
