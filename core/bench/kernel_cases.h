// The kernels beside the Mamba-2 scan as pairs of subjects: forward and backward by the kernel, and by LibTorch
// operators with autograd, on the same numbers.
//
// The operators are the quickest form found with the kernel's layout. The scan: scan_operators.h, sequential; with a
// coupling that of core/models/operators.h, which is sequential by nature. The convolution: shifted products (there
// too), quicker than conv1d and conv2d. The softmax: its padding holds -infinity, so that nothing needs to be cut off.
// Layer norm and cross entropy are LibTorch's own.
//
// FLOPs are counted from the formulas, an addition, product, quotient, root, exponential or comparison each as one,
// work once per row or weight left out, and what backward computes again counted again. Per token or row:
//
//   Mamba-1 scan          26 D N         forward 7 (decay 2, state 3, output 2); backward 19, states and decays again
//   coupled scan          (26 + 16 r) D N   beside that, forward 4 r; backward these again and twice as many
//   causal convolution    (6 w + 9) C    forward 2 w, SiLU and its slope 7; backward 4 w, slope and bias 2
//   layer norm            23 W           forward 7; backward 16, statistics again
//   gated RMSNorm         31 W           forward 9, SiLU 4 of them; backward 22, SiLU and its slope 7 of them
//   softmax cross entropy 7 V            largest, sum of exponentials 3, gradient 3
//   head cross entropy    (6 d + 7) V    logits, gradient of the rows, gradient of the head
//
// Bytes are the inputs and outputs of forward and of backward, once each; both cross entropies are one pass. Weights
// count only where they are the head's, which all rows share. What forward leaves for backward does not count.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/bench/subject.h"
#include "core/kernels/coupled_scan.h"

namespace mambarium {

struct KernelCase {
  std::string kernel, shape;
  std::string operators;        // what LibTorch is given to do, in words
  std::string unit;             // "token" or "row": what both subjects count
  Subject fused{}, torch{};     // one thread each, if not asked for more
  double flops = 0, bytes = 0;  // per unit
  // Calls both and returns how far their results and gradients are apart at most, each in parts of the largest number
  // of its tensor; NaN where either has one.
  std::function<double()> difference{};
};

// The figures are given for what stands here; a test wants less.
struct KernelSizes {
  std::int64_t length = 512;  // of the scan, which is also taken four times as long, and the convolution
  std::int64_t scan_batch = 4, channels = 128, d_state = 16, rank = 2;
  std::int64_t convolution_batch = 16, convolution_channels = 160, window = 4;
  std::int64_t norm_rows = 8192, width = 128;
  std::int64_t vocabulary = 50'277, padded_vocabulary = 50'288, rows = 256;
  std::int64_t head_rows = 64, d_model = 256;
};

KernelCase diagonal_scan_case(const kernels::DiagonalScanShape& shape, int threads = 1);
// The same inputs, with a coupling of the states: what the coupling costs is the one's speed in parts of the other's.
KernelCase coupled_scan_case(const kernels::CoupledScanShape& shape, int threads = 1);

// One case at a time exists with its tensors: the makers are called when their turn comes.
std::vector<std::function<KernelCase()>> kernel_cases(const KernelSizes& sizes = {});

}  // namespace mambarium
