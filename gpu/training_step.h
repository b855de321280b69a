// Loss, gradient and AdamW step of a whole model on a GPU: the numbers of core/kernels/whole_model.h and
// core/training/adamw.h. Three launches: every sequence forward and backward in a block of threads of its own; the sum
// over sequences in their order; the update.
//
// Weights, gradient and moments are flat arrays by WholeModelLayout, and every pointer is to memory of the current GPU.
// Calls return before the work is done, which follows what is in `stream`; one step at a time, from one thread. They
// throw GpuError. Nothing is added atomically and a sequence is cut by the shape alone: equal input gives equal bits.
#pragma once

#include "gpu/gpu_device.h"
#include "gpu/model_plan.h"
#include "gpu/stages/adamw.h"

namespace mambarium::gpu {

struct StepResult {
  double loss = 0;           // the mean of -log p(target)
  double gradient_norm = 0;  // before clipping; not finite exactly when some gradient is not
};

class TrainingStep {
 public:
  // roles: kernels::parameter_roles(). Takes the memory that a step needs. Throws std::invalid_argument where
  // make_plan() does.
  TrainingStep(const kernels::WholeModelShape& shape, const kernels::WholeModelLayout& layout,
               std::span<const ParameterRole> roles);

  // tokens and targets [batch][length], each below S. result (null: not wanted) is written on the GPU.
  void loss(const float* weights, const std::int64_t* tokens, const std::int64_t* targets, StepResult* result,
            cudaStream_t stream);
  // gradient [count] is written, numbers that belong to no parameter as 0.
  void gradient(const float* weights, const std::int64_t* tokens, const std::int64_t* targets, float* gradient,
                StepResult* result, cudaStream_t stream);
  // After gradient(): weights and moments [count] are updated with the gradient, clipped by the norm that gradient()
  // found.
  void update(const AdamWStep& step, const float* gradient, float* weights, float* first_moment, float* second_moment,
              cudaStream_t stream);

  const ModelPlan& plan() const { return plan_; }

 private:
  void sequences(const float* weights, const std::int64_t* tokens, const std::int64_t* targets, bool wanted,
                 cudaStream_t stream);

  ModelPlan plan_;
  int batch_;
  DeviceBuffer<BlockLayout> blocks_;
  DeviceBuffer<ParameterRole> roles_;
  DeviceBuffer<float> memory_, scratch_, per_sequence_;
  DeviceBuffer<double> losses_, squares_;  // by sequence; by block of sum_kernel
};

}  // namespace mambarium::gpu
