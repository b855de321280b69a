// The depthwise causal convolution of a batch on a GPU, forward and backward: the arithmetic of
// gpu/stages/causal_convolution.h, a block of threads for some rows and channels.
//
// Every pointer is to memory of the current GPU, also those in `job`, which plan_convolution() makes. Calls return
// before the work is done, which follows what is in `stream`; they throw GpuError. Nothing is added atomically.
#pragma once

#include "gpu/convolution_plan.h"
#include "gpu/gpu_device.h"

namespace mambarium::gpu {

// out [batch, T, channels].
void causal_convolution(const ConvolutionJob& job, kernels::Rows<float> out, cudaStream_t stream);

// din [batch, T, channels], dtaps [channels][w] and dbias [channels] are written. workspace: as many floats as
// plan_convolution_backward() says.
void causal_convolution_backward(const ConvolutionJob& job, kernels::Rows<const float> dout, kernels::Rows<float> din,
                                 float* dtaps, float* dbias, float* workspace, cudaStream_t stream);

}  // namespace mambarium::gpu
