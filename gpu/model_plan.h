// make_plan: cuts a whole model into pieces for the stages (gpu/stages/whole_model.h).
#pragma once

#include "gpu/stages/model_plan.h"

namespace mambarium::gpu {

// Floats of a block's own memory that every GPU from compute capability 8.0 on can give (96 KiB). How a sequence is
// cut depends on this number and the shape alone, so that every GPU computes the same sums in the same order.
inline constexpr std::int64_t on_chip_floats = 96 * 1024 / 4;

// plan.block points into `layout`: set it to a copy where the stages run elsewhere. Throws std::invalid_argument with
// one sentence where a size does not fit the 32 bits that the stages count with.
ModelPlan make_plan(const kernels::WholeModelShape& shape, const kernels::WholeModelLayout& layout);

}  // namespace mambarium::gpu
