#include "core/models/sequence_model.h"

#include "core/models/parameter.h"

namespace mambarium {

Engine engine_named(const std::string& name) {
  return name == "torch" ? Engine::torch : Engine::fused;
}

std::string name_of(Engine engine) {
  return engine == Engine::fused ? "fused" : "torch";
}

std::int64_t SequenceModel::parameter_count() {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters()) {
    count += parameter.tensor.numel();
  }
  return count;
}

}  // namespace mambarium
