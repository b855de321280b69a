#include "core/kernels/selective_scan.h"

#include "core/kernels/flush_denormals.h"
#include "core/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/selective_scan.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/scan/channel_scan-inl.h"
#include "core/kernels/scan/chunked_scan-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

// Which layout is faster, as measured with AVX-512 and AVX2. A chunk costs about lanes (headdim + d_state)
// multiply-adds a token whatever the state, which only a large state earns back: forward it saves one multiply-add of
// three, backward five of ten and the sums across lanes. Channels that leave lanes empty count as if they filled them.
bool ForwardInChunks(const SingleScan& scan) {
  return scan.headdim >= 2 * lanes && scan.headdim * scan.d_state >= 16 * lanes * lanes;
}
bool BackwardInChunks(const SingleScan& scan) {
  return std::max(scan.headdim, lanes) * scan.d_state >= 32 * lanes;
}

void ScanGroup(const SingleScan& scan, Strided<float> y, float* h_final, Scratch& scratch) {
  if (ForwardInChunks(scan)) {
    ChunkedScan(scan, scratch).Forward(y, h_final);
  } else {
    ChannelScan(scan, scratch).Forward(y, h_final);
  }
}

void ScanBackwardGroup(const SingleScan& scan, Strided<const float> dy, const float* dh_final,
                       const SingleScanGradients& gradients, Scratch& scratch) {
  if (!BackwardInChunks(scan)) {
    ChannelScan(scan, scratch).Backward(dy, dh_final, gradients);
    return;
  }
  const std::int64_t at_once = ChunkedScan::HeadsAtOnce(scan), of_head = scan.headdim * scan.d_state;
  for (std::int64_t head = 0; head < scan.heads; head += at_once) {
    const auto part = heads_of(scan, head, std::min(at_once, scan.heads - head));
    ChunkedScan(part, scratch)
        .Backward(dy.columns(head * scan.headdim), dh_final == nullptr ? nullptr : dh_final + head * of_head,
                  heads_of(scan, gradients, head), head > 0);
  }
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(ScanGroup);
HWY_EXPORT(ScanBackwardGroup);

void selective_scan_sequence(const ScanShape& shape, const ScanInputs<float>& inputs, std::int64_t b, Rows<float> y,
                             float* h_final, Scratch& scratch) {
  for (std::int64_t group = 0; group < shape.groups; ++group) {
    const GroupOfSequence of(shape, b, group);
    HWY_DYNAMIC_DISPATCH(ScanGroup)(of.scan(inputs), of.channels(y), of.states(h_final), scratch);
  }
}

void selective_scan_backward_sequence(const ScanShape& shape, const ScanInputs<float>& inputs, std::int64_t b,
                                      Rows<const float> dy, const float* dh_final,
                                      const ScanGradients<float>& gradients, Scratch& scratch) {
  for (std::int64_t group = 0; group < shape.groups; ++group) {
    const GroupOfSequence of(shape, b, group);
    HWY_DYNAMIC_DISPATCH(ScanBackwardGroup)
    (of.scan(inputs), of.channels(dy), of.states(dh_final), of.gradients(gradients), scratch);
  }
}

void selective_scan(const ScanShape& shape, const ScanInputs<float>& inputs, Rows<float> y, float* h_final,
                    int threads) {
  parallel_ranges(shape.batch, threads, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    Scratch scratch;
    for (std::int64_t b = begin; b < end; ++b) {
      selective_scan_sequence(shape, inputs, b, y, h_final, scratch);
    }
  });
}

void selective_scan_backward(const ScanShape& shape, const ScanInputs<float>& inputs, Rows<const float> dy,
                             const float* dh_final, const ScanGradients<float>& gradients, int threads) {
  parallel_ranges(shape.batch, threads, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    Scratch scratch;
    for (std::int64_t b = begin; b < end; ++b) {
      selective_scan_backward_sequence(shape, inputs, b, dy, dh_final, gradients, scratch);
    }
  });
}

}  // namespace mambarium::kernels
#endif
