// Depthwise causal convolution with bias and activation along one sequence (paper 1, section 2.2).
//
//   out_t = act(bias + sum_i taps_i in_{t-(w-1)+i}),  inputs before the first token are zero
//
// taps [w][channels]: index w-1 is the current token. A channel without a convolution is taps 0 ... 0 1 and bias 0,
// exactly.
#pragma once

#include <cstdint>

#include "core/kernels/activation.h"
#include "core/kernels/rows.h"

namespace mambarium::kernels {

struct ConvolutionShape {
  std::int64_t length = 0, channels = 0, window = 1;
};

// slope (data may be null: not wanted) receives the activation's derivative, which the backward pass takes.
void causal_convolution(const ConvolutionShape& shape, Strided<const float> in, const float* taps, const float* bias,
                        Activation activation, Strided<float> out, Strided<float> slope);

// din is written, dtaps and dbias are added to.
void causal_convolution_backward(const ConvolutionShape& shape, Strided<const float> in, const float* taps,
                                 Strided<const float> slope, Strided<const float> dout, Strided<float> din,
                                 float* dtaps, float* dbias);

}  // namespace mambarium::kernels
