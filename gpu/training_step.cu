#include "gpu/block_team.cuh"
#include "gpu/stages/whole_model.h"
#include "gpu/training_step.h"

namespace mambarium::gpu {

namespace {

extern __shared__ double on_chip[];

struct Sequences {
  const float* weights = nullptr;
  const std::int64_t *tokens = nullptr, *targets = nullptr;  // [batch][length]
  float weight_of_target = 0;
  std::int64_t memory_size = 0;
  float *memory = nullptr, *scratch = nullptr;  // scratch null: on chip
  double* losses = nullptr;
  float* gradients = nullptr;  // [batch][count]; null: not wanted
};

__global__ void __launch_bounds__(threads_of_a_block)
    sequence_kernel(const __grid_constant__ ModelPlan plan, const __grid_constant__ Sequences all) {
  const std::int64_t b = blockIdx.x;
  float* const scratch = all.scratch == nullptr ? reinterpret_cast<float*>(on_chip) : all.scratch + b * plan.scratch;
  const SequencePass pass(plan, scratch, all.memory + b * all.memory_size, all.gradients != nullptr);
  SequenceTask task;
  task.weights = all.weights;
  task.tokens = all.tokens + b * plan.length;
  task.targets = all.targets + b * plan.length;
  task.weight_of_target = all.weight_of_target;
  task.loss = all.losses + b;
  task.gradients = all.gradients == nullptr ? nullptr : all.gradients + b * plan.count;
  pass.run(BlockTeam(), task);
}

// Every block sums a stretch of the gradient over the sequences, and the squares of its own stretch.
__global__ void __launch_bounds__(threads_of_a_block)
    sum_kernel(const float* per_sequence, int batch, int count, const ParameterRole* roles, float* gradient,
               double* squares) {
  __shared__ double strands[sum_strands];
  const int first = static_cast<int>(blockIdx.x) * threads_of_a_block;
  const int here = count - first < threads_of_a_block ? count - first : threads_of_a_block;
  const BlockTeam team;
  team.each(here, [&](int i) {
    const bool fixed = roles[first + i] == ParameterRole::fixed;
    gradient[first + i] = fixed ? 0.0f : sum_over_sequences(per_sequence, batch, count, first + i);
  });
  sum_of_squares(team, here, roles + first, gradient + first, strands);
  team.each(1, [&](int) { squares[blockIdx.x] = strands[0]; });
}

__global__ void __launch_bounds__(threads_of_a_block)
    result_kernel(const double* losses, int batch, double targets, const double* squares, int stretches,
                  StepResult* result) {
  __shared__ double loss[sum_strands], norm[sum_strands];
  const BlockTeam team;
  ordered_sum(
      team, batch, [&](int b) { return losses[b]; }, loss);
  ordered_sum(
      team, stretches, [&](int i) { return squares[i]; }, norm);
  team.each(1, [&](int) { *result = {loss[0] / targets, sqrt(norm[0])}; });
}

// Every block sums the squares of all stretches again: the same sum in the same order, and no launch in between.
__global__ void __launch_bounds__(threads_of_a_block)
    update_kernel(const __grid_constant__ AdamWStep step, int count, const ParameterRole* roles, const float* gradient,
                  const double* squares, int stretches, float* weights, float* first_moment, float* second_moment) {
  __shared__ double norm[sum_strands];
  ordered_sum(
      BlockTeam(), stretches, [&](int i) { return squares[i]; }, norm);
  const float factor = clip_factor(sqrt(norm[0]), step.highest_norm);
  const int i = static_cast<int>(blockIdx.x) * threads_of_a_block + static_cast<int>(threadIdx.x);
  if (i < count) adamw(step, roles[i], gradient[i] * factor, weights[i], first_moment[i], second_moment[i]);
}

int stretches_of(const ModelPlan& plan) {
  return static_cast<int>((plan.count + threads_of_a_block - 1) / threads_of_a_block);
}

}  // namespace

TrainingStep::TrainingStep(const kernels::WholeModelShape& shape, const kernels::WholeModelLayout& layout,
                           std::span<const ParameterRole> roles)
    : plan_(make_plan(shape, layout)),
      batch_(static_cast<int>(shape.mixer.batch)),
      blocks_(std::span(layout.blocks)),
      roles_(roles) {
  plan_.block = blocks_.data();
  const auto batch = static_cast<std::size_t>(batch_);
  const SequencePass sizes(plan_, nullptr, nullptr, true);
  memory_ = DeviceBuffer<float>(batch * static_cast<std::size_t>(sizes.memory_size()));
  if (!plan_.on_chip) scratch_ = DeviceBuffer<float>(batch * static_cast<std::size_t>(plan_.scratch));
  per_sequence_ = DeviceBuffer<float>(batch * static_cast<std::size_t>(plan_.count));
  losses_ = DeviceBuffer<double>(batch);
  squares_ = DeviceBuffer<double>(static_cast<std::size_t>(stretches_of(plan_)));
}

void TrainingStep::sequences(const float* weights, const std::int64_t* tokens, const std::int64_t* targets, bool wanted,
                             cudaStream_t stream) {
  const std::size_t bytes = plan_.on_chip ? static_cast<std::size_t>(plan_.scratch) * sizeof(float) : 0;
  check(cudaFuncSetAttribute(sequence_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "give a block of the GPU its memory");
  Sequences all;
  all.weights = weights;
  all.tokens = tokens;
  all.targets = targets;
  all.weight_of_target = 1.0f / static_cast<float>(static_cast<std::int64_t>(batch_) * plan_.length);
  all.memory_size = SequencePass(plan_, nullptr, nullptr, wanted).memory_size();
  all.memory = memory_.data();
  all.scratch = scratch_.data();
  all.losses = losses_.data();
  all.gradients = wanted ? per_sequence_.data() : nullptr;
  sequence_kernel<<<static_cast<unsigned>(batch_), threads_of_a_block, bytes, stream>>>(plan_, all);
  check(cudaGetLastError(), "start a step on the GPU");
}

void TrainingStep::loss(const float* weights, const std::int64_t* tokens, const std::int64_t* targets,
                        StepResult* result, cudaStream_t stream) {
  sequences(weights, tokens, targets, false, stream);
  if (result == nullptr) return;
  const double all = static_cast<double>(batch_) * plan_.length;
  result_kernel<<<1, threads_of_a_block, 0, stream>>>(losses_.data(), batch_, all, nullptr, 0, result);
  check(cudaGetLastError(), "sum the loss on the GPU");
}

void TrainingStep::gradient(const float* weights, const std::int64_t* tokens, const std::int64_t* targets,
                            float* gradient, StepResult* result, cudaStream_t stream) {
  sequences(weights, tokens, targets, true, stream);
  const int stretches = stretches_of(plan_);
  sum_kernel<<<static_cast<unsigned>(stretches), threads_of_a_block, 0, stream>>>(
      per_sequence_.data(), batch_, static_cast<int>(plan_.count), roles_.data(), gradient, squares_.data());
  check(cudaGetLastError(), "sum the gradient on the GPU");
  if (result == nullptr) return;
  const double all = static_cast<double>(batch_) * plan_.length;
  result_kernel<<<1, threads_of_a_block, 0, stream>>>(losses_.data(), batch_, all, squares_.data(), stretches, result);
  check(cudaGetLastError(), "sum the loss on the GPU");
}

void TrainingStep::update(const AdamWStep& step, const float* gradient, float* weights, float* first_moment,
                          float* second_moment, cudaStream_t stream) {
  const int stretches = stretches_of(plan_);
  update_kernel<<<static_cast<unsigned>(stretches), threads_of_a_block, 0, stream>>>(
      step, static_cast<int>(plan_.count), roles_.data(), gradient, squares_.data(), stretches, weights, first_moment,
      second_moment);
  check(cudaGetLastError(), "start the update of the weights");
}

}  // namespace mambarium::gpu
