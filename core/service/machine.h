// What this program and this machine are: for `info`, for the greeting of `serve`, and to tell what cannot run here.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/contract/experiment_config.h"

namespace mambarium {

struct Machine {
  std::string program_version, revision, torch_version, compiler;
  std::string host, cpu, simd;  // simd: the vector instruction set the kernels choose here
  std::int64_t cores = 1;
  double memory_bytes = 0;
  bool cuda_usable = false;
  std::string cuda;  // in words: what can be used, or why nothing can
};
Machine this_machine();
nlohmann::json to_json(const Machine& machine);

// Why this configuration cannot run here although it is valid: a device that is not usable, more memory than there is.
std::optional<Problem> unfit_for_this_machine(const ExperimentConfig& config);

// The device that run.device means here: "cpu" or "cuda".
std::string resolved_device(const ExperimentConfig& config);

}  // namespace mambarium
