// The pointwise non-linearities of the models. silu(x) = x sigmoid(x).
#pragma once

namespace mambarium {

enum class Activation { none, relu, silu };

}  // namespace mambarium
