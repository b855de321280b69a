#include "core/models/transformer_options.h"

namespace mambarium {

TransformerOptions transformer_options(const ExperimentConfig& config) {
  return {
      .states = is_decoder(config) ? 0 : alphabet_of(config),
      .d_model = config.integer("model.d_model"),
      .headdim = config.integer("model.headdim"),
      .layers = config.integer("model.layers"),
      .positions = length_of(config),
      .learned_positions = config.text("model.positions") == "learned",
      .attention = config.text("model.attention") == "linear" ? Attention::linear : Attention::softmax,
      .d_conv = config.integer("model.d_conv"),
      .conv_Q = config.includes("model.conv_qkv", "Q"),
      .conv_K = config.includes("model.conv_qkv", "K"),
      .conv_V = config.includes("model.conv_qkv", "V"),
      .readout = readout_of(config),
      .seed = static_cast<std::uint64_t>(config.integer("training.seed")),
  };
}

}  // namespace mambarium
