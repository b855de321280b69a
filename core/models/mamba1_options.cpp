#include "core/models/mamba1_options.h"

namespace mambarium {

Mamba1Options mamba1_options(const ExperimentConfig& config) {
  return {
      .states = is_decoder(config) ? 0 : alphabet_of(config),
      .d_model = config.integer("model.d_model"),
      .d_state = config.integer("model.d_state"),
      .expand = config.integer("model.expand"),
      .layers = config.integer("model.layers"),
      .d_conv = config.integer("model.d_conv"),
      .conv = config.includes("model.conv", "x"),
      .activation = activation_of(config),
      .gate = config.boolean("model.gate"),
      .learned_decay = config.text("model.decay") == "learned",
      .norm = config.text("model.norm") == "layer",
      .skip = config.boolean("model.skip"),
      .readout = readout_of(config),
      .coupling = coupling_options(config),
      .seed = static_cast<std::uint64_t>(config.integer("training.seed")),
      .threads = static_cast<int>(config.integer("run.threads")),
  };
}

}  // namespace mambarium
