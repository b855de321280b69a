#include "core/models/mamba2.h"

namespace mambarium {

std::unique_ptr<SequenceModel> make_model(const ExperimentConfig& config, Engine engine, Precision precision) {
  return std::make_unique<Mamba2>(mamba2_options(config), engine, precision);
}

}  // namespace mambarium
