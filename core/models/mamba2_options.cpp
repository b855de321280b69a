#include "core/models/mamba2_options.h"

namespace mambarium {

namespace {

Mlp mlp_from(const std::string& text) {
  return text == "gated" ? Mlp::gated : text == "plain" ? Mlp::plain : Mlp::none;
}

Filters filters_from(const std::string& text) {
  return text == "shared" ? Filters::shared : text == "fixed" ? Filters::fixed : Filters::per_channel;
}

}  // namespace

Activation activation_of(const ExperimentConfig& config) {
  const std::string& text = config.text("model.activation");
  return text == "silu" ? Activation::silu : text == "relu" ? Activation::relu : Activation::none;
}

Readout readout_of(const ExperimentConfig& config) {
  return config.text("model.readout") == "l1" ? Readout::l1 : Readout::softmax;
}

Mamba2Options mamba2_options(const ExperimentConfig& config) {
  const bool zero = config.text("model.kind") == "mamba_zero";
  return {
      .states = is_decoder(config) ? 0 : alphabet_of(config),
      .d_model = config.integer("model.d_model"),
      .d_state = config.integer("model.d_state"),
      .expand = config.integer("model.expand"),
      .headdim = config.integer("model.headdim"),
      .layers = config.integer("model.layers"),
      .d_conv = config.integer("model.d_conv"),
      .conv_x = config.includes("model.conv", "x"),
      .conv_B = config.includes("model.conv", "B"),
      .conv_C = config.includes("model.conv", "C"),
      .filters = filters_from(config.text("model.conv_filters")),
      .activation = zero ? Activation::none : activation_of(config),
      .gate = !zero && config.boolean("model.gate"),
      .learned_decay = config.text("model.decay") == "learned",
      .norm = !zero && config.text("model.norm") == "layer",
      .skip = !zero && config.boolean("model.skip"),
      .mlp = zero ? Mlp::none : mlp_from(config.text("model.mlp")),
      .readout = readout_of(config),
      .coupling = coupling_options(config),
      .seed = static_cast<std::uint64_t>(config.integer("training.seed")),
      .threads = static_cast<int>(config.integer("run.threads")),
  };
}

}  // namespace mambarium
