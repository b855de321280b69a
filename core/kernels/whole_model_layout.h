// Where the numbers of a whole model lie in one flat array: weights, and in the same order sums of their gradients.
// in_proj is one matrix of rows x | B | C | z | dt, the gated MLP's fc1 one of value | gate, and the convolution one
// list of channels x | B | C whose unconvolved segments pass through. Used by whole_model.cpp and its group alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/kernels/whole_model.h"

namespace mambarium::kernels {

inline constexpr std::int64_t no_part = -1;

struct WholeModelLayout {
  struct Block {
    std::int64_t norm = no_part, in = 0, taps = 0, conv_bias = 0, dt_bias = 0, A_log = no_part, D = no_part;
    std::int64_t y_norm = no_part, out = 0;
    std::int64_t mlp_norm = no_part, fc1 = no_part, fc2 = no_part;
  };
  std::int64_t embedding = 0, final_norm = no_part, lm_head = 0, count = 0;
  std::vector<Block> blocks;
  bool gate = false, gated_mlp = false;

  WholeModelLayout() = default;
  WholeModelLayout(const WholeModelShape& shape, const WholeModelTensors<const float>& weights);
};

}  // namespace mambarium::kernels
