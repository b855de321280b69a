#include "core/service/machine.h"

#include <hwy/targets.h>
#include <torch/torch.h>
#include <torch/version.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/contract/text.h"
#include "mambarium/version.h"

namespace mambarium {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

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

// The kernels of gpu/ are not in the worker yet; a GPU that LibTorch sees does not change that.
std::string cuda_in_words() {
  if (!torch::cuda::is_available()) return "not usable: LibTorch sees no CUDA device";
  return "not usable: this version computes its runs on the CPU";
}

}  // namespace

Machine this_machine() {
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
  machine.cores = std::thread::hardware_concurrency();
  machine.memory_bytes = memory_bytes();
  machine.cuda = cuda_in_words();
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
          {"cores", machine.cores},
          {"memory_bytes", machine.memory_bytes},
          {"cuda", {{"usable", machine.cuda_usable}, {"why", machine.cuda}}}};
}

std::optional<Problem> unfit_for_this_machine(const ExperimentConfig& config) {
  if (config.text("run.device") == "cuda")
    return Problem{"run.device", "cuda is " + cuda_in_words() + "; choose cpu or auto"};
  const double needed = estimated_bytes(config), present = memory_bytes();
  if (needed <= present) return std::nullopt;
  constexpr double gibibyte = 1u << 30;
  return Problem{"training.batch", "a step would take about " + shortest(std::ceil(needed / gibibyte)) +
                                       " GiB of memory and this machine has " +
                                       shortest(std::floor(present / gibibyte)) +
                                       "; lower the batch, the length or the model's sizes"};
}

std::string resolved_device(const ExperimentConfig& config) {
  return config.text("run.device") == "cuda" ? "cuda" : "cpu";
}

}  // namespace mambarium
