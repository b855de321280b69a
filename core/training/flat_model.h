// FlatModel: a model's weights and what AdamW keeps of them as flat arrays, by one WholeModelLayout, there and back.
#pragma once

#include <cstdint>
#include <vector>

#include "core/kernels/whole_model_layout.h"
#include "core/models/sequence_model.h"
#include "core/models/whole_model_plan.h"
#include "core/training/adamw.h"

namespace mambarium {

struct FlatNumbers {  // layout().count each; empty gradient: none
  std::vector<float> weights, first_moment, second_moment, gradient;
};

class FlatModel {
 public:
  // Of a float32 model, for batches of `batch` sequences of `length` tokens. Model and AdamW outlive it.
  FlatModel(SequenceModel& model, AdamW& optimiser, std::int64_t batch, std::int64_t length);

  const kernels::WholeModelShape& shape() const { return plan_.shape; }
  const kernels::WholeModelLayout& layout() const { return layout_; }
  const std::vector<kernels::ParameterRole>& roles() const { return roles_; }
  const AdamWOptions& adamw() const { return optimiser_.options(); }

  FlatNumbers pack();  // without the gradient
  void unpack(const FlatNumbers& numbers);

 private:
  SequenceModel& model_;
  AdamW& optimiser_;
  WholeModelPlan plan_;
  kernels::WholeModelLayout layout_;
  std::vector<kernels::ParameterRole> roles_;
};

}  // namespace mambarium
