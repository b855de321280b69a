#include "core/contract/model_start.h"
#include "core/models/mamba2.h"
#include "core/theory/constructions.h"

namespace mambarium {

std::unique_ptr<SequenceModel> make_model(const ExperimentConfig& config, Engine engine, Precision precision) {
  auto model = std::make_unique<Mamba2>(mamba2_options(config), engine, precision);
  if (const auto start = start_of(config)) write_construction(*start, *model);
  return model;
}

}  // namespace mambarium
