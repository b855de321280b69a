// How a causal convolution is cut into blocks of work (gpu/stages/convolution_blocks.h), and where their parts lie.
#pragma once

#include <vector>

#include "core/kernels/causal_convolution.h"
#include "gpu/stages/convolution_blocks.h"

namespace mambarium::gpu {

// in [batch, T, channels], taps [channels][w] with the current token last, bias [channels]. Throws
// std::invalid_argument with one sentence for shapes that the kernels cannot count or hold.
ConvolutionJob plan_convolution(std::int64_t batch, const kernels::ConvolutionShape& shape,
                                kernels::Rows<const float> in, const float* taps, const float* bias,
                                Activation activation);

struct ConvolutionBackwardPlan {
  float *dtaps = nullptr, *dbias = nullptr;  // parts
  std::vector<PartSums> sums;
  std::int64_t workspace = 0;  // floats
};
// dtaps and dbias are written by the sums. workspace null: only its size is wanted.
ConvolutionBackwardPlan plan_convolution_backward(const ConvolutionJob& job, float* dtaps, float* dbias,
                                                  float* workspace);

}  // namespace mambarium::gpu
