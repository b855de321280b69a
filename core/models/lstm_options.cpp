#include "core/models/lstm_options.h"

namespace mambarium {

LstmOptions lstm_options(const ExperimentConfig& config) {
  return {
      .states = is_decoder(config) ? 0 : alphabet_of(config),
      .d_model = config.integer("model.d_model"),
      .layers = config.integer("model.layers"),
      .readout = readout_of(config),
      .seed = static_cast<std::uint64_t>(config.integer("training.seed")),
  };
}

}  // namespace mambarium
