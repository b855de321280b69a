// out = value act(gate), the gate of the mixer and of the gated MLP; without a value, out = act(gate). The same numbers
// as core/kernels/gated_activation.h.
#pragma once

#include "gpu/stages/activation.h"
#include "gpu/stages/panel.h"

namespace mambarium::gpu {

template <class Team>
MAMBARIUM_HOST_DEVICE void gate(const Team& team, int rows, int width, Numbers value, Numbers gate_in,
                                Activation activation, NumbersOut out) {
  team.each(rows * width, [&](int i) {
    const int t = i / width, c = i % width;
    const float active = activated(gate_in.at(t, c), activation).value;
    out.at(t, c) = value.data == nullptr ? active : active * value.at(t, c);
  });
}

// dvalue (unused without a value) and dgate are written; either may be dout.
template <class Team>
MAMBARIUM_HOST_DEVICE void gate_backward(const Team& team, int rows, int width, Numbers value, Numbers gate_in,
                                         Activation activation, Numbers dout, NumbersOut dvalue, NumbersOut dgate) {
  team.each(rows * width, [&](int i) {
    const int t = i / width, c = i % width;
    const Activated active = activated(gate_in.at(t, c), activation);
    const float incoming = dout.at(t, c);
    if (value.data == nullptr) {
      dgate.at(t, c) = incoming * active.slope;
    } else {
      dgate.at(t, c) = incoming * value.at(t, c) * active.slope;
      dvalue.at(t, c) = incoming * active.value;
    }
  });
}

}  // namespace mambarium::gpu
