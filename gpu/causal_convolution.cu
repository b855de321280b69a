#include "gpu/causal_convolution.h"
#include "gpu/part_sums.cuh"

namespace mambarium::gpu {

namespace {

extern __shared__ double on_chip[];

__global__ void __launch_bounds__(threads_of_a_block)
    convolution_kernel(const __grid_constant__ ConvolutionJob job, kernels::Rows<float> out) {
  convolution_block(BlockTeam(), job, static_cast<int>(blockIdx.x), out);
}

__global__ void __launch_bounds__(threads_of_a_block)
    convolution_backward_kernel(const __grid_constant__ ConvolutionJob job, kernels::Rows<const float> dout,
                                kernels::Rows<float> din, float* dtaps, float* dbias) {
  convolution_backward_block(BlockTeam(), job, static_cast<int>(blockIdx.x), dout, din, dtaps, dbias,
                             reinterpret_cast<float*>(on_chip));
}

}  // namespace

void causal_convolution(const ConvolutionJob& job, kernels::Rows<float> out, cudaStream_t stream) {
  convolution_kernel<<<static_cast<unsigned>(job.blocks()), threads_of_a_block, 0, stream>>>(job, out);
  check(cudaGetLastError(), "start the convolution");
}

void causal_convolution_backward(const ConvolutionJob& job, kernels::Rows<const float> dout, kernels::Rows<float> din,
                                 float* dtaps, float* dbias, float* workspace, cudaStream_t stream) {
  const auto plan = plan_convolution_backward(job, dtaps, dbias, workspace);
  const std::size_t bytes = static_cast<std::size_t>(job.scratch()) * sizeof(float);
  convolution_backward_kernel<<<static_cast<unsigned>(job.blocks()), threads_of_a_block, bytes, stream>>>(
      job, dout, din, plan.dtaps, plan.dbias);
  check(cudaGetLastError(), "start the backward pass of the convolution");
  sum_parts(plan.sums, stream);
}

}  // namespace mambarium::gpu
