// out = value act(gate), the gate of the mixer and of the gated MLP; with value.data null, out = act(gate).
#pragma once

#include <cstdint>

#include "core/kernels/activation.h"
#include "core/kernels/rows.h"

namespace mambarium::kernels {

void gated_activation(std::int64_t length, std::int64_t width, Strided<const float> value, Strided<const float> gate,
                      Activation activation, Strided<float> out);

// dvalue (null with value) and dgate are written; out, where wanted, receives the forward result again. dvalue or dgate
// may be dout.
void gated_activation_backward(std::int64_t length, std::int64_t width, Strided<const float> value,
                               Strided<const float> gate, Activation activation, Strided<const float> dout,
                               Strided<float> dvalue, Strided<float> dgate, Strided<float> out);

}  // namespace mambarium::kernels
