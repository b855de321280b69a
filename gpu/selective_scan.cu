#include "gpu/part_sums.cuh"
#include "gpu/selective_scan.h"

namespace mambarium::gpu {

namespace {

extern __shared__ double on_chip[];

template <class Decay>
__global__ void __launch_bounds__(threads_of_a_block)
    scan_kernel(const __grid_constant__ ScanJob job, BatchOut y, float* h_final) {
  scan_block<Decay>(BlockTeam(), job, static_cast<int>(blockIdx.x), y, h_final, reinterpret_cast<float*>(on_chip));
}

template <class Decay>
__global__ void __launch_bounds__(threads_of_a_block)
    scan_backward_kernel(const __grid_constant__ ScanJob job, const __grid_constant__ ScanBackwardJob out) {
  scan_backward_block<Decay>(BlockTeam(), job, out, static_cast<int>(blockIdx.x), reinterpret_cast<float*>(on_chip));
}

std::size_t on_chip_bytes(const ScanJob& job, bool backward) {
  return static_cast<std::size_t>(scan_scratch(job.tile, job.d_state, job.piece, backward)) * sizeof(float);
}

template <class Decay>
void forward(const ScanJob& job, const BatchOut& y, float* h_final, cudaStream_t stream) {
  scan_kernel<Decay>
      <<<static_cast<unsigned>(job.blocks()), threads_of_a_block, on_chip_bytes(job, false), stream>>>(job, y, h_final);
  check(cudaGetLastError(), "start the scan");
}

template <class Decay, class Gradients>
void backward(const ScanJob& job, const BatchIn& dy, const float* dh_final, const Gradients& gradients,
              float* workspace, cudaStream_t stream) {
  const ScanBackwardPlan plan = plan_scan_backward(job, dy, dh_final, gradients, workspace);
  scan_backward_kernel<Decay>
      <<<static_cast<unsigned>(job.blocks()), threads_of_a_block, on_chip_bytes(job, true), stream>>>(job, plan.job);
  check(cudaGetLastError(), "start the backward pass of the scan");
  sum_parts(plan.sums, stream);
}

}  // namespace

void selective_scan(const kernels::ScanShape& shape, const kernels::ScanInputs<float>& inputs, BatchOut y,
                    float* h_final, cudaStream_t stream) {
  forward<HeadDecay>(plan_scan(shape, inputs), y, h_final, stream);
}
void selective_scan(const kernels::ScanShape& shape, const DiagonalScanInputs& inputs, BatchOut y, float* h_final,
                    cudaStream_t stream) {
  forward<StateDecay>(plan_scan(shape, inputs), y, h_final, stream);
}

void selective_scan_backward(const kernels::ScanShape& shape, const kernels::ScanInputs<float>& inputs, BatchIn dy,
                             const float* dh_final, const kernels::ScanGradients<float>& gradients, float* workspace,
                             cudaStream_t stream) {
  backward<HeadDecay>(plan_scan(shape, inputs), dy, dh_final, gradients, workspace, stream);
}
void selective_scan_backward(const kernels::ScanShape& shape, const DiagonalScanInputs& inputs, BatchIn dy,
                             const float* dh_final, const DiagonalScanGradients& gradients, float* workspace,
                             cudaStream_t stream) {
  backward<StateDecay>(plan_scan(shape, inputs), dy, dh_final, gradients, workspace, stream);
}

}  // namespace mambarium::gpu
