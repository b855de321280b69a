// How a scan is cut into blocks of work (gpu/stages/scan_blocks.h), and where their parts lie in one workspace.
#pragma once

#include <vector>

#include "core/kernels/diagonal_scan.h"
#include "gpu/stages/scan_blocks.h"

namespace mambarium::gpu {

// Mamba-1's scan (core/kernels/diagonal_scan.h): the shape's heads is 1 and its headdim the number of channels. Of the
// gradients that of h0 alone may be null.
using DiagonalScanInputs = kernels::DiagonalScanInputs<float>;
using DiagonalScanGradients = kernels::DiagonalScanGradients<float>;

// Throws std::invalid_argument with one sentence for shapes that the kernels cannot count or hold.
ScanJob plan_scan(const kernels::ScanShape& shape, const kernels::ScanInputs<float>& inputs);
ScanJob plan_scan(const kernels::ScanShape& shape, const DiagonalScanInputs& inputs);

// Everything of a backward pass: what the blocks write, and the sums that follow.
struct ScanBackwardPlan {
  ScanBackwardJob job;
  std::vector<PartSums> sums;
  std::int64_t workspace = 0;  // floats
};
// workspace null: only its size is wanted. All gradients but those of h0 have to be given.
ScanBackwardPlan plan_scan_backward(const ScanJob& job, BatchIn dy, const float* dh_final,
                                    const kernels::ScanGradients<float>& gradients, float* workspace);
ScanBackwardPlan plan_scan_backward(const ScanJob& job, BatchIn dy, const float* dh_final,
                                    const DiagonalScanGradients& gradients, float* workspace);

}  // namespace mambarium::gpu
