// The coupled scan by Picard passes, as the models evaluate it: each pass is a plain (diagonal) scan whose coupling is
// fed by the z of the pass before, and the first has none (coupled_scan_picard of core/kernels/coupled_scan.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/models/operators.h"

namespace mambarium {

// Tensors as operators::coupled_scan takes them, all float32 or all float64. No gradients. passes >= 1: with as many as
// tokens (one more where h0 is not 0) it is the recurrence.
operators::ScanResult picard_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                                  const at::Tensor& A, const at::Tensor& P, const at::Tensor& Q, CouplingForm form,
                                  std::int64_t passes, const at::Tensor& h0 = {});

}  // namespace mambarium
