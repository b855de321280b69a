// Parameter: one named tensor of a model. Includes torch: for .cpp files of core only.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace mambarium {

struct Parameter {
  std::string name;      // "layers.0.in_proj.weight"
  at::Tensor tensor;     // a leaf with requires_grad
  bool decayed = false;  // AdamW's weight decay: Linear weights only
};

}  // namespace mambarium
