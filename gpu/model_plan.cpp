#include "gpu/model_plan.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "gpu/stages/whole_model.h"

namespace mambarium::gpu {

namespace {

int narrow(std::int64_t number, const char* what) {
  if (number < 0 || number > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(std::string(what) + " is " + std::to_string(number) +
                                ", and the GPU kernels count to 2147483647");
  }
  return static_cast<int>(number);
}

ModelPlan in_pieces_of(ModelPlan plan, int rows) {
  plan.piece = rows;
  plan.scratch = SequencePass(plan, nullptr, nullptr, true).scratch_size();
  plan.on_chip = plan.scratch <= on_chip_floats;
  return plan;
}

// As many rows as fit on chip. Where that is only a handful, what lies on chip saves less than the barriers between
// so many pieces cost.
ModelPlan in_pieces(const ModelPlan& plan) {
  constexpr int fewest = 8, off_chip = 32;
  const int least = std::min(plan.length, std::max(fewest, plan.lead()));
  const std::int64_t of_one = in_pieces_of(plan, 1).scratch, of_row = in_pieces_of(plan, 2).scratch - of_one;
  const std::int64_t most = 1 + (on_chip_floats - of_one) / of_row;
  if (most < least) return in_pieces_of(plan, std::min(plan.length, std::max(off_chip, plan.lead())));
  return in_pieces_of(plan, static_cast<int>(std::min<std::int64_t>(most, plan.length)));
}

}  // namespace

ModelPlan make_plan(const kernels::WholeModelShape& shape, const kernels::WholeModelLayout& layout) {
  ModelPlan plan;
  plan.length = narrow(shape.mixer.length, "the length of a sequence");
  plan.d_model = narrow(shape.mixer.d_model, "d_model");
  plan.heads = narrow(shape.mixer.heads, "the number of heads");
  plan.headdim = narrow(shape.mixer.headdim, "headdim");
  plan.d_state = narrow(shape.mixer.d_state, "d_state");
  plan.d_conv = narrow(shape.mixer.d_conv, "d_conv");
  plan.activation = shape.mixer.activation;
  plan.mlp_activation = shape.mlp_activation;
  plan.hidden = narrow(shape.hidden, "the width of the MLP");
  plan.states = narrow(shape.states, "the number of states");
  plan.l1 = shape.l1;
  plan.gate = layout.gate;
  plan.gated_mlp = layout.gated_mlp;
  plan.embedding = layout.embedding;
  plan.final_norm = layout.final_norm;
  plan.lm_head = layout.lm_head;
  plan.count = narrow(layout.count, "the number of weights");
  plan.blocks = narrow(static_cast<std::int64_t>(layout.blocks.size()), "the number of blocks");
  plan.block = layout.blocks.data();
  narrow(shape.mixer.length * std::max(shape.mixer.d_model, std::int64_t{1}), "the number of inputs of a block");
  plan = in_pieces(plan);
  narrow(plan.scratch, "the scratch memory of a sequence");
  return plan;
}

}  // namespace mambarium::gpu
