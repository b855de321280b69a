#include "core/training/training_step.h"

#include <torch/torch.h>

#include "core/kernels/flush_denormals.h"
#include "core/models/coupled_model.h"
#include "core/models/parameter.h"

namespace mambarium {

namespace {

class HostStep final : public TrainingStep {
 public:
  HostStep(SequenceModel& model, AdamW& optimiser) : model_(model), optimiser_(optimiser) {}

  std::string device() const override { return "cpu"; }

  BatchLoss gradient(const at::Tensor& inputs, const at::Tensor& targets) override {
    for (Parameter& parameter : model_.parameters()) parameter.tensor.mutable_grad().reset();
    const at::Tensor loss = model_.loss(inputs, targets);
    CoupledModel* const coupled = model_.coupled();
    const at::Tensor penalty = coupled ? coupled->penalty() : at::Tensor();
    const at::Tensor objective = penalty.defined() ? loss + penalty : loss;
    if (objective.requires_grad()) {  // a model without parameters has none
      // From one scored token back to the first gradients fade into denormals, which are slow and worth nothing.
      const kernels::FlushDenormals flush;
      objective.backward();
    }
    buffers_ = buffers_of(model_.parameters());
    norm_ = global_gradient_norm(buffers_);
    return {loss.item<double>(), norm_};
  }
  void update(std::int64_t number, double learning_rate, double highest_norm) override {
    optimiser_.step(buffers_, number, learning_rate, clip_factor(norm_, highest_norm));
    if (CoupledModel* const coupled = model_.coupled()) coupled->hold_couplings();
  }
  void fetch() override {}
  void push() override {}

 private:
  SequenceModel& model_;
  AdamW& optimiser_;
  std::vector<OptimisedBuffer> buffers_;
  double norm_ = 0;
};

}  // namespace

std::unique_ptr<TrainingStep> make_host_step(SequenceModel& model, AdamW& optimiser) {
  return std::make_unique<HostStep>(model, optimiser);
}

std::vector<OptimisedBuffer> buffers_of(const std::vector<Parameter>& parameters) {
  std::vector<OptimisedBuffer> buffers;
  for (const auto& [name, tensor, decayed] : parameters) {
    const auto size = static_cast<std::size_t>(tensor.numel());
    const at::Tensor& gradient = tensor.grad();
    buffers.push_back({{tensor.data_ptr<float>(), size}, {}, decayed});
    if (gradient.defined()) buffers.back().gradient = {gradient.data_ptr<float>(), size};
  }
  return buffers;
}

}  // namespace mambarium
