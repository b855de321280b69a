// A whole model as the stages want it: plain numbers that a kernel takes by value. Made by make_plan() on the host.
#pragma once

#include <cstdint>

#include "core/kernels/whole_model_layout.h"
#include "gpu/host_device.h"

namespace mambarium::gpu {

using BlockLayout = kernels::WholeModelLayout::Block;
using kernels::no_part;

struct ModelPlan {
  int length = 0, d_model = 0, heads = 1, headdim = 0, d_state = 0, d_conv = 1;
  Activation activation = Activation::silu, mlp_activation = Activation::silu;
  int hidden = 0, states = 0;  // of the MLPs (0: none); S
  bool l1 = false, gate = false, gated_mlp = false;

  std::int64_t embedding = 0, final_norm = no_part, lm_head = 0, count = 0;
  int blocks = 0;
  const BlockLayout* block = nullptr;  // [blocks], where the stages run

  int piece = 0;             // rows that are taken at a time: at least d_conv - 1, or all
  bool on_chip = false;      // whether what a piece needs fits the memory of a block of threads
  std::int64_t scratch = 0;  // floats that a piece needs: SequencePass

  MAMBARIUM_HOST_DEVICE int inner() const { return heads * headdim; }
  MAMBARIUM_HOST_DEVICE int convolved() const { return inner() + 2 * d_state; }
  MAMBARIUM_HOST_DEVICE int lead() const { return d_conv - 1; }
  MAMBARIUM_HOST_DEVICE int pieces() const { return (length + piece - 1) / piece; }
  MAMBARIUM_HOST_DEVICE int rows_of(int index) const { return index + 1 < pieces() ? piece : length - index * piece; }

  // Columns of a projected row x | B | C | z | dt.
  MAMBARIUM_HOST_DEVICE int column_B() const { return inner(); }
  MAMBARIUM_HOST_DEVICE int column_C() const { return inner() + d_state; }
  MAMBARIUM_HOST_DEVICE int column_z() const { return convolved(); }
  MAMBARIUM_HOST_DEVICE int column_dt() const { return convolved() + (gate ? inner() : 0); }
  MAMBARIUM_HOST_DEVICE int projected() const { return column_dt() + heads; }
};

}  // namespace mambarium::gpu
