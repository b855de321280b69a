// What the worker asks of a GPU: gpu.cpp where gpu/ is built with its kernels (cmake/Cuda.cmake), no_gpu.cpp elsewhere.
// No CUDA header is needed to include this.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/kernels/selective_scan.h"
#include "core/training/training_step.h"

namespace mambarium {

struct GpuSupport {
  std::string name;   // "NVIDIA H200"; empty: there is none that can be used
  std::string words;  // "NVIDIA H200, compute capability 9.0, 139 GiB"; or "not usable: " and why
  bool usable() const { return !name.empty(); }
};
// Starts CUDA in this process where there is a GPU, which takes some of its memory; does not throw.
GpuSupport gpu_support();

// GpuStep, a StepFactory for models on the fused engine. Throws TrainingError with one sentence where no GPU can be
// used, where gpu/ does not cover the model (make_plan), or where the GPU's memory does not suffice.
std::unique_ptr<TrainingStep> make_gpu_step(SequenceModel& model, AdamW& optimiser, std::int64_t batch,
                                            std::int64_t length);

// Kernels on float32 tensors of the CPU, which are copied there and back: the forward pass of all inputs but the last,
// then the backward pass with the last as the gradient of the result. Outputs are written: the result and the gradients
// of the inputs in their order. All contiguous. They throw std::runtime_error.
using TensorKernel = void (*)(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs);
// x [b, T, H P], dt and a [b, T, H], B and C [b, T, N], dy.
void selective_scan_on_gpu(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs);
// Mamba-1: x and dt [b, T, channels], A [channels, N], B and C [b, T, N], dy.
void diagonal_scan_on_gpu(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs);
// With SiLU: in [b, T, channels], taps [channels, w], bias [channels], dout.
void causal_convolution_on_gpu(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs);

// Does Mamba-2's scan forward `times` times on arrays that stay on the GPU, and waits: to be timed.
std::function<void()> scans_on_gpu(const kernels::ScanShape& shape, int times);

}  // namespace mambarium
