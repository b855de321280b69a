#include "core/models/rwkv4_options.h"

namespace mambarium {

Rwkv4Options rwkv4_options(const ExperimentConfig& config) {
  return {
      .states = is_decoder(config) ? 0 : alphabet_of(config),
      .d_model = config.integer("model.d_model"),
      .layers = config.integer("model.layers"),
      .readout = readout_of(config),
      .seed = static_cast<std::uint64_t>(config.integer("training.seed")),
      .threads = static_cast<int>(config.integer("run.threads")),
  };
}

}  // namespace mambarium
