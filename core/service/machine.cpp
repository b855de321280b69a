#include "core/service/machine.h"

#include <hwy/targets.h>
#include <torch/version.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/contract/text.h"
#include "core/device/gpu.h"
#include "core/service/command_error.h"
#include "core/training/blas_kernels.h"
#include "mambarium/version.h"

namespace mambarium {

namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return std::string(trimmed(std::string_view(line).substr(line.find(':') + 1)));
  return "unknown";
}

std::string simd_name() {
  const std::int64_t supported = hwy::SupportedTargets();
  const std::int64_t best = supported & -supported;  // Highway numbers better targets lower
  return hwy::TargetName(best);
}

double memory_bytes() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

Machine this_machine() {
  const GpuSupport gpu = gpu_support();
  Machine machine;
  machine.program_version = version;
  machine.revision = revision;
  machine.torch_version = TORCH_VERSION;
#if defined(__clang__)
  machine.compiler = "clang++ " __clang_version__;
#else
  machine.compiler = "g++ " __VERSION__;
#endif
  machine.host = host_name();
  machine.cpu = cpu_name();
  machine.simd = simd_name();
  machine.blas = blas_kernels();
  machine.cores = std::thread::hardware_concurrency();
  machine.memory_bytes = memory_bytes();
  machine.cuda_usable = gpu.usable();
  machine.cuda = gpu.words;
  return machine;
}

nlohmann::json to_json(const Machine& machine) {
  return {{"program", "mambarium-worker"},
          {"version", machine.program_version},
          {"revision", machine.revision},
          {"torch", machine.torch_version},
          {"compiler", machine.compiler},
          {"host", machine.host},
          {"cpu", machine.cpu},
          {"simd", machine.simd},
          {"blas", machine.blas},
          {"cores", machine.cores},
          {"memory_bytes", machine.memory_bytes},
          {"cuda", {{"usable", machine.cuda_usable}, {"why", machine.cuda}}}};
}

std::optional<Problem> unfit_for_this_machine(const ExperimentConfig& config, Engine engine) {
  if (config.text("run.device") == "cuda") {
    if (engine == Engine::torch)
      return Problem{"run.device", "the torch engine computes on the CPU; choose --engine fused, or run.device cpu"};
    if (const GpuSupport gpu = gpu_support(); !gpu.usable())
      return Problem{"run.device", "cuda is " + gpu.words + "; choose cpu or auto"};
  }
  return too_large_for_this_machine(config);
}

std::optional<Problem> too_large_for_this_machine(const ExperimentConfig& config) {
  const double needed = estimated_bytes(config), present = memory_bytes();
  if (needed <= present) return std::nullopt;
  constexpr double gibibyte = 1u << 30;
  return Problem{"training.batch", "a step would take about " + shortest(std::ceil(needed / gibibyte)) +
                                       " GiB of memory and this machine has " +
                                       shortest(std::floor(present / gibibyte)) +
                                       "; lower the batch, the length or the model's sizes"};
}

void need_cuda() {
  if (const GpuSupport gpu = gpu_support(); !gpu.usable())
    throw bad_input("--device: cuda is " + gpu.words + "; choose cpu");
}

std::string resolved_device(const ExperimentConfig& config) {
  const std::string device = config.text("run.device");
  if (device == "auto") return trains_on_gpu(config) && gpu_support().usable() ? "cuda" : "cpu";
  return device;
}

}  // namespace mambarium
