// TransformerOptions: the architecture of the transformer as plain numbers and switches, read from an
// ExperimentConfig once.
#pragma once

#include <cstdint>

#include "core/contract/experiment_config.h"
#include "core/models/mamba2_options.h"

namespace mambarium {

enum class Attention { softmax, linear };

struct TransformerOptions {
  std::int64_t states = 2;  // S: the size of the alphabet; 0: neither embedding nor read-out, rows() alone
  std::int64_t d_model = 8;
  std::int64_t headdim = 0;  // 0: one head of all d_model channels; must divide d_model
  std::int64_t layers = 1;
  std::int64_t positions = 128;  // the longest sequence, where positions are learned
  bool learned_positions = true;
  Attention attention = Attention::softmax;
  std::int64_t d_conv = 2;
  bool conv_Q = false, conv_K = false, conv_V = false;
  Readout readout = Readout::softmax;
  std::uint64_t seed = 0;  // of the initial weights

  std::int64_t head_width() const { return headdim == 0 ? d_model : headdim; }
  std::int64_t heads() const { return d_model / head_width(); }
};

// From a configuration that validate() finds nothing wrong with; positions: length_of().
TransformerOptions transformer_options(const ExperimentConfig& config);

}  // namespace mambarium
