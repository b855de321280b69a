// RMSNorm with a gain, plain or gated, over groups of neighbouring channels.
//
//   norm(v) = v / sqrt(mean of v^2 over its group + epsilon)
//   plain (gate.data null):   out = weight norm(in)
//   gated:                    out = weight norm(in silu(gate))      Mamba-2's norm before out_proj
//   gated, norm_before_gate:  out = weight norm(in) silu(gate)
//
// One group is all of the width; Mamba-2 with several groups of B and C norms each group's channels alone. `reference`
// is plain loops, float or double; the others are float32, vectorised, with run-time dispatch.
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"

namespace mambarium::kernels {

struct RmsNormShape {
  std::int64_t length = 0, width = 0;
  std::int64_t groups = 1;  // divides the width
  bool norm_before_gate = false;
  double epsilon = 1e-5;
};

template <class Real>
struct RmsNormGradients {
  Strided<Real> in, gate;  // written; gate null where there is none
  Real* weight = nullptr;  // [width], added to
};

// in, gate and out [length, width]; weight [width]. out may be in or gate.
template <class Real>
void rms_norm_reference(const RmsNormShape& shape, Strided<const Real> in, Strided<const Real> gate, const Real* weight,
                        Strided<Real> out);
template <class Real>
void rms_norm_backward_reference(const RmsNormShape& shape, Strided<const Real> in, Strided<const Real> gate,
                                 const Real* weight, Strided<const Real> dout, const RmsNormGradients<Real>& gradients);

void rms_norm(const RmsNormShape& shape, Strided<const float> in, Strided<const float> gate, const float* weight,
              Strided<float> out);

// Statistics are computed again from in and gate. Either gradient may be dout.
void rms_norm_backward(const RmsNormShape& shape, Strided<const float> in, Strided<const float> gate,
                       const float* weight, Strided<const float> dout, const RmsNormGradients<float>& gradients);

}  // namespace mambarium::kernels
