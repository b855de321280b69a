#include "gpu/gpu_device.h"

namespace mambarium::gpu {

namespace {

// The oldest that gpu/ is compiled for (CMAKE_CUDA_ARCHITECTURES), and what model_plan.h counts on.
constexpr int oldest_major = 8;
constexpr std::size_t needed_block_memory = 96 * 1024;

std::string words(cudaError_t code) {
  return std::string(cudaGetErrorString(code)) + " (" + cudaGetErrorName(code) + ")";
}

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, index), "ask for an attribute of the GPU");
  return value;
}

Gpu describe(int index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "ask what the GPU is");
  Gpu gpu;
  gpu.index = index;
  gpu.name = properties.name;
  gpu.major = properties.major;
  gpu.minor = properties.minor;
  gpu.multiprocessors = properties.multiProcessorCount;
  gpu.memory = properties.totalGlobalMem;
  gpu.block_memory = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index));
  return gpu;
}

}  // namespace

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // an error that can be got over must not be reported again by the next call
  throw GpuError(std::string("cannot ") + what + ": " + words(code));
}

std::string Gpu::description() const {
  return name + ", compute capability " + std::to_string(major) + "." + std::to_string(minor) + ", " +
         std::to_string(memory >> 30) + " GiB";
}

std::variant<Gpu, std::string> usable_gpu() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) cudaGetLastError();
  if (code == cudaErrorInsufficientDriver) {
    return "there is no NVIDIA driver, or one older than CUDA " + std::to_string(CUDART_VERSION / 1000);
  }
  if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0)) return std::string("there is no NVIDIA GPU");
  if (code != cudaSuccess) return "CUDA does not start: " + words(code);
  std::string why_not;
  for (int index = 0; index < count; ++index) {
    try {
      Gpu gpu = describe(index);
      if (gpu.major < oldest_major || gpu.block_memory < needed_block_memory) {
        why_not = gpu.description() + " is too old: compute capability 8.0 is needed";
        continue;
      }
      check(cudaSetDevice(index), "use the GPU");
      return gpu;
    } catch (const GpuError& error) {
      why_not = error.what();
    }
  }
  return why_not;
}

}  // namespace mambarium::gpu
