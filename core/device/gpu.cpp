#include "core/device/gpu.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>

#include "core/training/flat_model.h"
#include "core/training/training_error.h"
#include "gpu/causal_convolution.h"
#include "gpu/gpu_device.h"
#include "gpu/selective_scan.h"
#include "gpu/training_step.h"

namespace mambarium {

namespace {

using gpu::DeviceBuffer;
using gpu::Gpu;
using Tensors = std::vector<at::Tensor>;

// What goes wrong on a GPU ends a run, and not the program.
template <class Action>
auto reporting(const Action& action) {
  try {
    return action();
  } catch (const gpu::GpuError& error) {
    throw TrainingError(error.what(),
                        "If it speaks of memory, lower training.batch or task.length, or set run.device to cpu.");
  }
}

class GpuStep final : public TrainingStep {
 public:
  GpuStep(SequenceModel& model, AdamW& optimiser, std::int64_t batch, std::int64_t length, std::string name)
      : name_(std::move(name)),
        flat_(model, optimiser, batch, length),
        step_(flat_.shape(), flat_.layout(), flat_.roles()),
        weights_(count()),
        first_(count()),
        second_(count()),
        gradient_(count()),
        tokens_(static_cast<std::size_t>(batch * length)),
        targets_(static_cast<std::size_t>(batch * length)),
        result_(1) {
    GpuStep::push();
  }

  std::string device() const override { return "cuda: " + name_; }

  BatchLoss gradient(const at::Tensor& inputs, const at::Tensor& targets) override {
    return reporting([&] {
      upload(inputs, tokens_);
      upload(targets, targets_);
      step_.gradient(weights_.data(), tokens_.data(), targets_.data(), gradient_.data(), result_.data(), nullptr);
      const gpu::StepResult result = result_.download().front();
      has_gradient_ = fetched_is_old_ = true;
      return BatchLoss{result.loss, result.gradient_norm};
    });
  }

  void update(std::int64_t number, double learning_rate, double highest_norm) override {
    reporting([&] {
      const AdamWOptions& options = flat_.adamw();
      const gpu::AdamWOptions there{.beta1 = options.beta1,
                                    .beta2 = options.beta2,
                                    .epsilon = options.epsilon,
                                    .weight_decay = options.weight_decay,
                                    .highest_norm = highest_norm};
      step_.update(gpu::adamw_step(there, number, learning_rate), gradient_.data(), weights_.data(), first_.data(),
                   second_.data(), nullptr);
      fetched_is_old_ = true;
    });
  }

  void fetch() override {
    if (!fetched_is_old_) return;
    reporting([&] {
      FlatNumbers numbers{weights_.download(), first_.download(), second_.download(), {}};
      if (has_gradient_) numbers.gradient = gradient_.download();
      flat_.unpack(numbers);
      fetched_is_old_ = false;
    });
  }

  void push() override {
    reporting([&] {
      const FlatNumbers numbers = flat_.pack();
      weights_.upload(numbers.weights);
      first_.upload(numbers.first_moment);
      second_.upload(numbers.second_moment);
      has_gradient_ = fetched_is_old_ = false;
    });
  }

 private:
  std::size_t count() const { return static_cast<std::size_t>(flat_.layout().count); }

  static void upload(const at::Tensor& tensor, DeviceBuffer<std::int64_t>& buffer) {
    const at::Tensor whole = tensor.contiguous();
    buffer.upload(
        std::span<const std::int64_t>(whole.data_ptr<std::int64_t>(), static_cast<std::size_t>(whole.numel())));
  }

  std::string name_;
  FlatModel flat_;
  gpu::TrainingStep step_;
  DeviceBuffer<float> weights_, first_, second_, gradient_;
  DeviceBuffer<std::int64_t> tokens_, targets_;
  DeviceBuffer<gpu::StepResult> result_;
  bool has_gradient_ = false, fetched_is_old_ = false;
};

Gpu needed_gpu() {
  auto found = gpu::usable_gpu();
  if (const auto* why_not = std::get_if<std::string>(&found)) {
    throw TrainingError("run.device: cuda is not usable: " + *why_not, "Set run.device to cpu or auto.");
  }
  return std::get<Gpu>(std::move(found));
}

// A tensor on the GPU, which is copied back on demand.
class Mirror {
 public:
  explicit Mirror(const at::Tensor& tensor) : tensor_(tensor), buffer_(numbers()) {}
  float* data() const { return buffer_.data(); }
  kernels::Rows<float> rows() const {  // of a tensor [batch, T, width]
    return {data(), tensor_.size(1) * tensor_.size(2), tensor_.size(2)};
  }
  void fetch() const { std::ranges::copy(buffer_.download(), tensor_.data_ptr<float>()); }

 private:
  std::span<const float> numbers() const {
    return {tensor_.data_ptr<float>(), static_cast<std::size_t>(tensor_.numel())};
  }
  at::Tensor tensor_;
  DeviceBuffer<float> buffer_;
};

std::vector<Mirror> mirrors(const Tensors& tensors) {
  return std::vector<Mirror>(tensors.begin(), tensors.end());
}

void fetch_all(const std::vector<Mirror>& outputs) {
  gpu::check(cudaDeviceSynchronize(), "finish the kernels");
  for (const Mirror& output : outputs) output.fetch();
}

void scan_both_ways(const kernels::ScanShape& shape, const auto& inputs, gpu::BatchIn dy, gpu::BatchOut y,
                    const auto& gradients) {
  gpu::selective_scan(shape, inputs, y, nullptr, nullptr);
  const auto plan = gpu::plan_scan_backward(gpu::plan_scan(shape, inputs), dy, nullptr, gradients, nullptr);
  const DeviceBuffer<float> workspace(static_cast<std::size_t>(plan.workspace));
  gpu::selective_scan_backward(shape, inputs, dy, nullptr, gradients, workspace.data(), nullptr);
  gpu::check(cudaDeviceSynchronize(), "finish the scan");
}

}  // namespace

GpuSupport gpu_support() {
  const auto found = gpu::usable_gpu();
  if (const auto* usable = std::get_if<Gpu>(&found)) return {usable->name, usable->description()};
  return {"", "not usable: " + std::get<std::string>(found)};
}

std::unique_ptr<TrainingStep> make_gpu_step(SequenceModel& model, AdamW& optimiser, std::int64_t batch,
                                            std::int64_t length) {
  const Gpu gpu = needed_gpu();
  try {
    return reporting([&] { return std::make_unique<GpuStep>(model, optimiser, batch, length, gpu.name); });
  } catch (const std::invalid_argument& error) {
    throw TrainingError(std::string("run.device: the GPU does not cover this model: ") + error.what(),
                        "Set run.device to cpu or auto.");
  }
}

void selective_scan_on_gpu(const Tensors& inputs, const Tensors& outputs) {
  needed_gpu();
  const auto in = mirrors(inputs), out = mirrors(outputs);
  const at::Tensor &x = inputs[0], &dt = inputs[1], &B = inputs[3];
  const kernels::ScanShape shape{x.size(0), x.size(1), dt.size(2), x.size(2) / dt.size(2), B.size(2)};
  scan_both_ways(
      shape, kernels::ScanInputs<float>{in[0].rows(), in[1].rows(), in[2].rows(), in[3].rows(), in[4].rows()},
      in[5].rows(), out[0].rows(),
      kernels::ScanGradients<float>{out[1].rows(), out[2].rows(), out[3].rows(), out[4].rows(), out[5].rows()});
  fetch_all(out);
}

void diagonal_scan_on_gpu(const Tensors& inputs, const Tensors& outputs) {
  needed_gpu();
  const auto in = mirrors(inputs), out = mirrors(outputs);
  const at::Tensor &x = inputs[0], &A = inputs[2];
  const kernels::ScanShape shape{x.size(0), x.size(1), 1, x.size(2), A.size(1)};
  scan_both_ways(shape, gpu::DiagonalScanInputs{in[0].rows(), in[1].rows(), in[3].rows(), in[4].rows(), in[2].data()},
                 in[5].rows(), out[0].rows(),
                 gpu::DiagonalScanGradients{out[1].rows(), out[2].rows(), out[4].rows(), out[5].rows(), out[3].data()});
  fetch_all(out);
}

void causal_convolution_on_gpu(const Tensors& inputs, const Tensors& outputs) {
  needed_gpu();
  const auto in = mirrors(inputs), out = mirrors(outputs);
  const at::Tensor &x = inputs[0], &taps = inputs[1];
  const auto job = gpu::plan_convolution(x.size(0), {x.size(1), x.size(2), taps.size(1)}, in[0].rows(), in[1].data(),
                                         in[2].data(), Activation::silu);
  const auto plan = gpu::plan_convolution_backward(job, nullptr, nullptr, nullptr);
  const DeviceBuffer<float> workspace(static_cast<std::size_t>(plan.workspace));
  gpu::causal_convolution(job, out[0].rows(), nullptr);
  gpu::causal_convolution_backward(job, in[3].rows(), out[1].rows(), out[2].data(), out[3].data(), workspace.data(),
                                   nullptr);
  fetch_all(out);
}

std::function<void()> scans_on_gpu(const kernels::ScanShape& shape, int times) {
  needed_gpu();
  struct Arrays {
    std::array<DeviceBuffer<float>, 6> all;  // x, dt, a, B, C, y
  };
  const auto arrays = std::make_shared<Arrays>();
  const std::int64_t inner = shape.heads * shape.headdim;
  const std::array<std::int64_t, 6> widths{inner, shape.heads, shape.heads, shape.d_state, shape.d_state, inner};
  std::array<kernels::Rows<float>, 6> rows;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const auto size = static_cast<std::size_t>(shape.batch * shape.length * widths[i]);
    arrays->all[i] = DeviceBuffer<float>(std::span<const float>(std::vector<float>(size, 0.5f)));
    rows[i] = {arrays->all[i].data(), shape.length * widths[i], widths[i]};
  }
  return [arrays, rows, shape, times] {
    const kernels::ScanInputs<float> inputs{rows[0], rows[1], rows[2], rows[3], rows[4]};
    for (int i = 0; i < times; ++i) gpu::selective_scan(shape, inputs, rows[5], nullptr, nullptr);
    gpu::check(cudaDeviceSynchronize(), "finish the scans");
  };
}

}  // namespace mambarium
