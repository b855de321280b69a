// The GPU, its memory, and what goes wrong with it. Nothing here needs a GPU to be there.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace mambarium::gpu {

// One sentence: what was wanted, and what CUDA said.
class GpuError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws GpuError unless `code` is success: "cannot WHAT: the driver's words (its name)".
void check(cudaError_t code, const char* what);

struct Gpu {
  int index = 0;
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::size_t memory = 0;           // bytes
  std::size_t block_memory = 0;     // bytes that a block of threads can have on chip
  std::string description() const;  // "NVIDIA H200, compute capability 9.0, 139 GiB"
};

// The first GPU that the kernels run on, which is then the calling thread's current one; or one sentence why there is
// none: no driver, no device, or only devices that are too old. Does not throw for want of a GPU.
std::variant<Gpu, std::string> usable_gpu();

// `size` numbers in the memory of the current GPU, given back at the end. Uninitialised.
template <class Number>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<Number>);

 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    void* data = nullptr;
    if (size > 0) check(cudaMalloc(&data, size * sizeof(Number)), "take memory of the GPU");
    data_.reset(static_cast<Number*>(data));
  }
  // Copies; the calling thread waits.
  explicit DeviceBuffer(std::span<const Number> numbers) : DeviceBuffer(numbers.size()) { upload(numbers); }
  void upload(std::span<const Number> numbers) {
    if (numbers.size() != size_) throw std::invalid_argument("a copy to the GPU has another length than its buffer");
    if (size_ == 0) return;
    check(cudaMemcpy(data(), numbers.data(), size_ * sizeof(Number), cudaMemcpyHostToDevice), "copy to the GPU");
  }
  std::vector<Number> download() const {
    std::vector<Number> numbers(size_);
    if (size_ == 0) return numbers;
    check(cudaMemcpy(numbers.data(), data(), size_ * sizeof(Number), cudaMemcpyDeviceToHost), "copy from the GPU");
    return numbers;
  }

  Number* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(Number* data) const { cudaFree(data); }
  };
  std::unique_ptr<Number, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace mambarium::gpu
