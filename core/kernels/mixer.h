// The mixer of a Mamba-2 block, forward and backward, one sequence at a time so that it stays in cache:
//
//   [x, B, C, z, dt] = in_proj norm(u);  x, B, C = act(conv(.));  y = scan(x, softplus(dt + dt_bias), a, B, C) + D x
//   out = u + out_proj(norm(y) * act(z))
//
// mixer() is all of it, with its own matrix products, for narrow models; mixer_inside() leaves norm, in_proj, out_proj
// and the residual to the caller's BLAS. Nothing but the inputs is kept for the backward pass, which computes the rest
// again. Weights are as LibTorch holds them: matrices [out][in], convolution taps [channels][w]. Null where the part is
// off. Threads: sequences are split over `threads`; no result depends on how many.
#pragma once

#include <cstdint>

#include "core/kernels/activation.h"
#include "core/kernels/rows.h"

namespace mambarium::kernels {

struct MixerShape {
  std::int64_t batch = 0, length = 0, d_model = 0, heads = 1, headdim = 0, d_state = 0, d_conv = 1;
  Activation activation = Activation::silu;

  std::int64_t inner() const { return heads * headdim; }
  std::int64_t convolved() const { return inner() + 2 * d_state; }
};

// Real is const float for weights and float for their gradients.
template <class Real>
struct MixerTensors {
  Real* norm = nullptr;                                    // [d_model]
  Real *in_x = nullptr, *in_B = nullptr, *in_C = nullptr;  // [channels][d_model]; null all in mixer_inside()
  Real *in_z = nullptr, *in_dt = nullptr;                  // no in_z: no gate
  Real *conv_x = nullptr, *conv_x_bias = nullptr;          // [channels][w], [channels]
  Real *conv_B = nullptr, *conv_B_bias = nullptr;
  Real *conv_C = nullptr, *conv_C_bias = nullptr;
  Real *dt_bias = nullptr, *A_log = nullptr, *D = nullptr;  // [H]; no A_log: a_t = 1
  Real* y_norm = nullptr;                                   // [inner]
  Real* out_proj = nullptr;                                 // [d_model][inner]
};

// u, out [batch, T, d_model].
void mixer(const MixerShape& shape, const MixerTensors<const float>& weights, Rows<const float> u, Rows<float> out,
           int threads);
// du and gradients are written.
void mixer_backward(const MixerShape& shape, const MixerTensors<const float>& weights, Rows<const float> u,
                    Rows<const float> dout, Rows<float> du, const MixerTensors<float>& gradients, int threads);

// projected [batch, T, x | B | C | z | dt] -> norm(y) * act(z) [batch, T, inner]. `gate`: whether there are z columns.
void mixer_inside(const MixerShape& shape, bool gate, const MixerTensors<const float>& weights,
                  Rows<const float> projected, Rows<float> gated, int threads);
void mixer_inside_backward(const MixerShape& shape, bool gate, const MixerTensors<const float>& weights,
                           Rows<const float> projected, Rows<const float> dgated, Rows<float> dprojected,
                           const MixerTensors<float>& gradients, int threads);

}  // namespace mambarium::kernels
