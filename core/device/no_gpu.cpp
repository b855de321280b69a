#include "core/device/gpu.h"
#include "core/training/training_error.h"

namespace mambarium {

namespace {

[[noreturn]] void refuse() {
  throw TrainingError("run.device: cuda is " + gpu_support().words, "Set run.device to cpu or auto.");
}

}  // namespace

GpuSupport gpu_support() {
  return {"", "not usable: this program was built without CUDA"};
}

std::unique_ptr<TrainingStep> make_gpu_step(SequenceModel&, AdamW&, std::int64_t, std::int64_t) {
  refuse();
}
void selective_scan_on_gpu(const std::vector<at::Tensor>&, const std::vector<at::Tensor>&) {
  refuse();
}
void diagonal_scan_on_gpu(const std::vector<at::Tensor>&, const std::vector<at::Tensor>&) {
  refuse();
}
void causal_convolution_on_gpu(const std::vector<at::Tensor>&, const std::vector<at::Tensor>&) {
  refuse();
}
std::function<void()> scans_on_gpu(const kernels::ScanShape&, int) {
  refuse();
}

}  // namespace mambarium
