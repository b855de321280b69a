// The causal convolution of a batch, forward and backward, cut into blocks of work: some channels and rows of one
// sequence each. Sums over rows are written into a part of each block's own (part_sums.h).
#pragma once

#include "gpu/stages/causal_convolution.h"
#include "gpu/stages/part_sums.h"

namespace mambarium::gpu {

struct ConvolutionJob {
  int batch = 0, length = 0, channels = 0, window = 1;
  Activation activation = Activation::silu;
  kernels::Rows<const float> in;
  const float *taps = nullptr, *bias = nullptr;  // [channels][w], [channels]
  int tile = 64, segment = 64;                   // channels and rows of a block

  MAMBARIUM_HOST_DEVICE int tiles() const { return (channels + tile - 1) / tile; }
  MAMBARIUM_HOST_DEVICE int segments() const { return (length + segment - 1) / segment; }
  MAMBARIUM_HOST_DEVICE int blocks() const { return batch * segments() * tiles(); }
  MAMBARIUM_HOST_DEVICE std::int64_t scratch() const {  // floats of a block, for the backward pass
    return static_cast<std::int64_t>(segment + window - 1) * tile;
  }
};

// Which rows and channels a block has. Blocks of the same rows follow each other.
struct ConvolutionBlock {
  MAMBARIUM_HOST_DEVICE ConvolutionBlock(const ConvolutionJob& job, int index)
      : first_channel(index % job.tiles() * job.tile), stretch(index / job.tiles()) {
    b = stretch / job.segments();
    first = stretch % job.segments() * job.segment;
    const int lead = job.window - 1, left = job.length - first, channels_left = job.channels - first_channel;
    rows = left < job.segment ? left : job.segment;
    before = first < lead ? first : lead;
    after = left - rows < lead ? left - rows : lead;
    taps = {channels_left < job.tile ? channels_left : job.tile, job.window, job.taps + first_channel * job.window,
            job.bias + first_channel};
  }
  template <class Real>
  MAMBARIUM_HOST_DEVICE Panel<Real> of(const kernels::Rows<Real>& batch) const {
    return {batch.data + b * batch.sequence_stride + first * batch.row_stride + first_channel, batch.row_stride};
  }
  int first_channel, stretch;  // stretch: among the segments of the batch
  int b = 0, first = 0, rows = 0, before = 0, after = 0;
  Taps taps;
};

template <class Team>
MAMBARIUM_HOST_DEVICE void convolution_block(const Team& team, const ConvolutionJob& job, int index,
                                             const kernels::Rows<float>& out) {
  const ConvolutionBlock block(job, index);
  causal_convolution(team, block.rows, block.taps, block.of(job.in), block.before, job.activation, block.of(out),
                     NumbersOut());
}

// dtaps and dbias: parts [batch * segments][channels][w] and [batch * segments][channels].
template <class Team>
MAMBARIUM_HOST_DEVICE void convolution_backward_block(const Team& team, const ConvolutionJob& job, int index,
                                                      const kernels::Rows<const float>& dout,
                                                      const kernels::Rows<float>& din, float* dtaps, float* dbias,
                                                      float* scratch) {
  const ConvolutionBlock block(job, index);
  const int channels = block.taps.channels;
  const Numbers in = block.of(job.in), incoming = block.of(dout);
  const NumbersOut inner{scratch, channels};
  const std::int64_t part = static_cast<std::int64_t>(block.stretch) * job.channels + block.first_channel;
  float *const into_taps = dtaps + part * job.window, *const into_bias = dbias + part;
  team.each((block.rows + block.after) * channels, [&](int i) {
    const int t = i / channels, c = i % channels;
    const float sum = convolved(block.taps, in, block.before, t, c);
    inner.at(t, c) = incoming.at(t, c) * activated(sum, job.activation).slope;
  });
  team.each(channels, [&](int c) {
    for (int i = 0; i < job.window; ++i) into_taps[c * job.window + i] = 0.0f;
    into_bias[c] = 0.0f;
  });
  causal_convolution_backward(team, block.rows, block.taps, in, block.before, inner, block.after, block.of(din),
                              into_taps, into_bias);
}

}  // namespace mambarium::gpu
