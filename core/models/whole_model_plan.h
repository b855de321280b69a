// WholeModelPlan: a model's parameters, or other numbers of the same shapes, as the kernels of whole models take them
// (core/kernels/whole_model.h, gpu/training_step.h).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/kernels/whole_model.h"

namespace mambarium {

struct WholeModelPlan {
  kernels::WholeModelShape shape;
  std::size_t blocks = 0;
  std::vector<std::size_t> slots;  // for each parameter, which pointer it is: mixer and MLP by block, then the rest

  // numbers: an array for each parameter, in the order of SequenceModel::parameters(). Real: float or const float.
  template <class Real>
  kernels::WholeModelTensors<Real> tensors(std::span<float* const> numbers) const;
};

}  // namespace mambarium
