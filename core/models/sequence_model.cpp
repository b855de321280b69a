#include "core/models/sequence_model.h"

#include <ATen/ATen.h>

#include <stdexcept>

#include "core/models/parameter.h"
#include "core/models/whole_model_plan.h"

namespace mambarium {

Engine engine_named(const std::string& name) {
  return name == "torch" ? Engine::torch : Engine::fused;
}

std::string name_of(Engine engine) {
  return engine == Engine::fused ? "fused" : "torch";
}

Engine engine_of(const ExperimentConfig& config, Engine asked) {
  return has_kernels(config) ? asked : Engine::torch;
}

WholeModelPlan SequenceModel::whole_model_plan(std::int64_t, std::int64_t) const {
  throw std::invalid_argument("there is no kernel for the whole of such a model");
}

Tensor SequenceModel::decay_factors(std::span<const std::int32_t>) {
  throw std::invalid_argument("this model has no decay factors");
}

std::vector<at::Tensor> ModelState::hidden() const {
  return {};
}

std::vector<at::Tensor> ModelState::windows() const {
  return {};
}

std::pair<at::Tensor, at::Tensor> SequenceModel::projections(const at::Tensor&, std::int64_t) {
  throw std::invalid_argument("this model has no scan, so no b and c");
}

at::Tensor SequenceModel::rows(const at::Tensor&) {
  throw std::invalid_argument("this model has no blocks that could read anything but tokens");
}

CoupledModel* SequenceModel::coupled() {
  return nullptr;
}

at::Tensor SequenceModel::embedded(const at::Tensor&) {
  throw std::invalid_argument("this model has no blocks whose channels could be traced");
}

at::Tensor SequenceModel::read(const at::Tensor& tokens, ModelState& state) {
  std::vector<at::Tensor> rows;
  for (std::int64_t t = 0; t < tokens.size(1); ++t) rows.push_back(step(tokens.select(1, t).contiguous(), state));
  return at::stack(rows, 1);
}

std::int64_t SequenceModel::parameter_count() {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters()) {
    count += parameter.tensor.numel();
  }
  return count;
}

}  // namespace mambarium
