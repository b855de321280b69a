// The selective scans of Mamba-2 and Mamba-1 on a GPU, forward and backward: the arithmetic of
// gpu/stages/selective_scan.h, a block of threads for a few channels of a sequence.
//
// Every pointer is to memory of the current GPU. Shapes and meaning of inputs and gradients are those of
// core/kernels/selective_scan.h and gpu/scan_plan.h; all gradients but those of h0 have to be given. Calls return
// before the work is done, which follows what is in `stream`; they throw GpuError, or std::invalid_argument for a shape
// that cannot be computed. Results do not depend on scheduling: nothing is added atomically.
#pragma once

#include "gpu/gpu_device.h"
#include "gpu/scan_plan.h"

namespace mambarium::gpu {

// y [batch, T, H*P]; h_final [batch, H, P, N] or null.
void selective_scan(const kernels::ScanShape& shape, const kernels::ScanInputs<float>& inputs, BatchOut y,
                    float* h_final, cudaStream_t stream);
void selective_scan(const kernels::ScanShape& shape, const DiagonalScanInputs& inputs, BatchOut y, float* h_final,
                    cudaStream_t stream);

// dh_final null: zeros. workspace: as many floats as plan_scan_backward() says for the same shape.
void selective_scan_backward(const kernels::ScanShape& shape, const kernels::ScanInputs<float>& inputs, BatchIn dy,
                             const float* dh_final, const kernels::ScanGradients<float>& gradients, float* workspace,
                             cudaStream_t stream);
void selective_scan_backward(const kernels::ScanShape& shape, const DiagonalScanInputs& inputs, BatchIn dy,
                             const float* dh_final, const DiagonalScanGradients& gradients, float* workspace,
                             cudaStream_t stream);

}  // namespace mambarium::gpu
