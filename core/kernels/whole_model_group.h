// One group of sequences, one in each lane, through a whole model. Used by whole_model.cpp alone.
#pragma once

#include <cstdint>

#include "core/kernels/scratch.h"
#include "core/kernels/whole_model_layout.h"

namespace mambarium::kernels {

struct WholeModelGroup {
  const WholeModelShape& shape;
  const WholeModelLayout& layout;
  const float* weights = nullptr;                            // by the layout
  const std::int64_t *tokens = nullptr, *targets = nullptr;  // of the first sequence
  std::int64_t sequences = 0;                                // at most whole_model_lanes()
  float weight_of_target = 0;                                // of one -log p in the loss
  float* gradients = nullptr;                                // by the layout, added to; null: only the loss is wanted
};

std::int64_t whole_model_lanes();

// The sum of -log p(target) over the group.
double whole_model_group(const WholeModelGroup& group, Scratch& scratch);

}  // namespace mambarium::kernels
