// Where the numbers of a whole model lie in one flat array: weights, and in the same order sums of their gradients.
// in_proj is one matrix of rows x | B | C | z | dt, the gated MLP's fc1 one of value | gate, and the convolution one
// list of channels x | B | C, [channels][w], whose unconvolved segments pass through (taps 0 ... 0 1, bias 0).
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

// From tensors to the flat array [count], and from it to every tensor there is.
void pack(const WholeModelShape& shape, const WholeModelLayout& layout, const WholeModelTensors<const float>& tensors,
          float* flat);
void unpack(const WholeModelShape& shape, const WholeModelLayout& layout, const float* flat,
            const WholeModelTensors<float>& tensors);

// What an optimiser does with each number of the flat array: `fixed` ones belong to no tensor (the convolution of a
// segment that has none), and weight decay applies to the matrices of linear layers alone.
enum class ParameterRole : unsigned char { fixed, trained, decayed };
std::vector<ParameterRole> parameter_roles(const WholeModelShape& shape, const WholeModelLayout& layout,
                                           const WholeModelTensors<const float>& tensors);

}  // namespace mambarium::kernels
