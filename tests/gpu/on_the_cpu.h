// What core/device/gpu.cpp does on a GPU, with the same plans and stages on the CPU: for tests of everything around it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cmath>
#include <memory>

#include "core/training/flat_model.h"
#include "core/training/training_step.h"
#include "gpu/convolution_plan.h"
#include "gpu/model_plan.h"
#include "gpu/scan_plan.h"
#include "gpu/stages/adamw.h"
#include "gpu/stages/whole_model.h"

namespace mambarium::gpu {

class StageStep final : public TrainingStep {
 public:
  StageStep(SequenceModel& model, mambarium::AdamW& optimiser, std::int64_t batch, std::int64_t length)
      : flat_(model, optimiser, batch, length), batch_(batch), plan_(make_plan(flat_.shape(), flat_.layout())) {
    StageStep::push();
  }
  std::string device() const override { return "stages"; }
  BatchLoss gradient(const at::Tensor& inputs, const at::Tensor& targets) override {
    const SequencePass sizes(plan_, nullptr, nullptr, true);
    std::vector<double> scratch(static_cast<std::size_t>(plan_.scratch / 2 + 1));
    std::vector<float> memory(static_cast<std::size_t>(sizes.memory_size()));
    std::vector<float> per_sequence(static_cast<std::size_t>(batch_ * plan_.count));
    const double tokens = static_cast<double>(batch_) * plan_.length;
    BatchLoss result;
    for (std::int64_t b = 0; b < batch_; ++b) {
      double loss = 0;
      SequencePass(plan_, reinterpret_cast<float*>(scratch.data()), memory.data(), true)
          .run(TeamOfOne(), {.weights = numbers_.weights.data(),
                             .tokens = inputs.data_ptr<std::int64_t>() + b * plan_.length,
                             .targets = targets.data_ptr<std::int64_t>() + b * plan_.length,
                             .weight_of_target = static_cast<float>(1 / tokens),
                             .loss = &loss,
                             .gradients = per_sequence.data() + b * plan_.count});
      result.loss += loss / tokens;
    }
    numbers_.gradient.assign(static_cast<std::size_t>(plan_.count), 0.0f);
    for (std::int64_t i = 0; i < plan_.count; ++i) {
      if (flat_.roles()[static_cast<std::size_t>(i)] == ParameterRole::fixed) continue;
      numbers_.gradient[static_cast<std::size_t>(i)] =
          sum_over_sequences(per_sequence.data(), static_cast<int>(batch_), plan_.count, i);
    }
    std::vector<double> strands(sum_strands);
    sum_of_squares(TeamOfOne(), static_cast<int>(plan_.count), flat_.roles().data(), numbers_.gradient.data(),
                   strands.data());
    result.norm = norm_ = std::sqrt(strands[0]);
    return result;
  }
  void update(std::int64_t number, double learning_rate, double highest_norm) override {
    const auto step =
        adamw_step({.weight_decay = flat_.adamw().weight_decay, .highest_norm = highest_norm}, number, learning_rate);
    const float factor = gpu::clip_factor(norm_, step.highest_norm);
    for (std::size_t i = 0; i < numbers_.weights.size(); ++i) {
      adamw(step, flat_.roles()[i], numbers_.gradient[i] * factor, numbers_.weights[i], numbers_.first_moment[i],
            numbers_.second_moment[i]);
    }
  }
  void fetch() override { flat_.unpack(numbers_); }
  void push() override { numbers_ = flat_.pack(); }

 private:
  FlatModel flat_;
  std::int64_t batch_;
  ModelPlan plan_;
  FlatNumbers numbers_;
  double norm_ = 0;
};

inline std::unique_ptr<TrainingStep> make_stage_step(SequenceModel& model, mambarium::AdamW& optimiser,
                                                     std::int64_t batch, std::int64_t length) {
  return std::make_unique<StageStep>(model, optimiser, batch, length);
}

inline kernels::Rows<float> rows_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), tensor.size(1) * tensor.size(2), tensor.size(2)};
}

inline void sum_all(const std::vector<PartSums>& all) {
  for (const PartSums& sums : all) {
    for (std::int64_t i = 0; i < sums.count(); ++i) sums.sum(i);
  }
}

template <class Decay, class Gradients>
void scan_with_stages(const ScanJob& job, const at::Tensor& dy, const at::Tensor& y, const Gradients& gradients) {
  std::vector<float> scratch(static_cast<std::size_t>(scan_scratch(job.tile, job.d_state, job.piece, true)));
  for (int block = 0; block < job.blocks(); ++block) {
    scan_block<Decay>(TeamOfOne(), job, block, rows_of(y), nullptr, scratch.data());
  }
  const auto backward = [&](float* workspace) {
    return plan_scan_backward(job, rows_of(dy), nullptr, gradients, workspace);
  };
  std::vector<float> workspace(static_cast<std::size_t>(backward(nullptr).workspace));
  const auto plan = backward(workspace.data());
  for (int block = 0; block < job.blocks(); ++block) {
    scan_backward_block<Decay>(TeamOfOne(), job, plan.job, block, scratch.data());
  }
  sum_all(plan.sums);
}

// TensorKernels (core/device/gpu.h).
inline void selective_scan_with_stages(const std::vector<at::Tensor>& in, const std::vector<at::Tensor>& out) {
  const std::int64_t heads = in[1].size(2);
  const kernels::ScanShape shape{in[0].size(0), in[0].size(1), heads, in[0].size(2) / heads, in[3].size(2)};
  const kernels::ScanInputs<float> inputs{rows_of(in[0]), rows_of(in[1]), rows_of(in[2]), rows_of(in[3]),
                                          rows_of(in[4])};
  scan_with_stages<HeadDecay>(plan_scan(shape, inputs), in[5], out[0],
                              kernels::ScanGradients<float>{rows_of(out[1]), rows_of(out[2]), rows_of(out[3]),
                                                            rows_of(out[4]), rows_of(out[5])});
}
inline void diagonal_scan_with_stages(const std::vector<at::Tensor>& in, const std::vector<at::Tensor>& out) {
  const kernels::ScanShape shape{in[0].size(0), in[0].size(1), 1, in[0].size(2), in[2].size(1)};
  const DiagonalScanInputs inputs{rows_of(in[0]), rows_of(in[1]), rows_of(in[3]), rows_of(in[4]),
                                  in[2].data_ptr<float>()};
  scan_with_stages<StateDecay>(plan_scan(shape, inputs), in[5], out[0],
                               DiagonalScanGradients{rows_of(out[1]), rows_of(out[2]), rows_of(out[4]), rows_of(out[5]),
                                                     out[3].data_ptr<float>()});
}
inline void causal_convolution_with_stages(const std::vector<at::Tensor>& in, const std::vector<at::Tensor>& out) {
  const auto job = plan_convolution(in[0].size(0), {in[0].size(1), in[0].size(2), in[1].size(1)}, rows_of(in[0]),
                                    in[1].data_ptr<float>(), in[2].data_ptr<float>(), Activation::silu);
  const auto backward = [&](float* workspace) {
    return plan_convolution_backward(job, out[2].data_ptr<float>(), out[3].data_ptr<float>(), workspace);
  };
  std::vector<float> workspace(static_cast<std::size_t>(backward(nullptr).workspace));
  std::vector<float> scratch(static_cast<std::size_t>(job.scratch()));
  const auto plan = backward(workspace.data());
  for (int block = 0; block < job.blocks(); ++block) {
    convolution_block(TeamOfOne(), job, block, rows_of(out[0]));
    convolution_backward_block(TeamOfOne(), job, block, rows_of(in[3]), rows_of(out[1]), plan.dtaps, plan.dbias,
                               scratch.data());
  }
  sum_all(plan.sums);
}

}  // namespace mambarium::gpu
