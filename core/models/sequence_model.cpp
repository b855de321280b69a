#include "core/models/sequence_model.h"

#include <stdexcept>

#include "core/models/parameter.h"

namespace mambarium {

Engine engine_named(const std::string& name) {
  return name == "torch" ? Engine::torch : Engine::fused;
}

std::string name_of(Engine engine) {
  return engine == Engine::fused ? "fused" : "torch";
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

std::int64_t SequenceModel::parameter_count() {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters()) {
    count += parameter.tensor.numel();
  }
  return count;
}

}  // namespace mambarium
