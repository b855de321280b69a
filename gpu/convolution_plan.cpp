#include "gpu/convolution_plan.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace mambarium::gpu {

ConvolutionJob plan_convolution(std::int64_t batch, const kernels::ConvolutionShape& shape,
                                kernels::Rows<const float> in, const float* taps, const float* bias,
                                Activation activation) {
  // (64 + w) rows of 64 channels lie in the 48 KiB that a block of threads gets without asking for more.
  constexpr std::int64_t widest = 128, most = std::numeric_limits<int>::max();
  if (shape.window > widest) {
    throw std::invalid_argument("the convolution's window is " + std::to_string(shape.window) +
                                ", and the GPU's is at most " + std::to_string(widest));
  }
  if (std::min({batch, shape.length, shape.channels, shape.window}) < 1 || batch * shape.length > most ||
      shape.channels * shape.window > most) {
    throw std::invalid_argument("a convolution of " + std::to_string(batch) + " sequences of " +
                                std::to_string(shape.length) + " tokens and " + std::to_string(shape.channels) +
                                " channels is empty or more than the GPU kernels count");
  }
  ConvolutionJob job;
  job.batch = static_cast<int>(batch);
  job.length = static_cast<int>(shape.length);
  job.channels = static_cast<int>(shape.channels);
  job.window = static_cast<int>(shape.window);
  job.activation = activation;
  job.in = in;
  job.taps = taps;
  job.bias = bias;
  return job;
}

ConvolutionBackwardPlan plan_convolution_backward(const ConvolutionJob& job, float* dtaps, float* dbias,
                                                  float* workspace) {
  ConvolutionBackwardPlan result;
  Carve carve(workspace);
  const int parts = job.batch * job.segments();
  const auto parts_of = [&](int width, float* out) {
    float* const from = carve.floats(static_cast<std::int64_t>(parts) * job.channels * width);
    result.sums.push_back({1,
                           job.channels,
                           width,
                           parts,
                           from,
                           0,
                           width,
                           1,
                           static_cast<std::int64_t>(job.channels) * width,
                           {out, 0, width}});
    return from;
  };
  result.dtaps = parts_of(job.window, dtaps);
  result.dbias = parts_of(1, dbias);
  result.workspace = carve.used();
  return result;
}

}  // namespace mambarium::gpu
