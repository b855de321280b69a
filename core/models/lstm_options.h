// LstmOptions: the LSTM as plain numbers, read from an ExperimentConfig once.
//
// It counts, with V = alphabet and d = d_model,
//   2 V d + 2 d + layers (8 d^2 + 8 d)
// (embedding and read-out; the final norm; two maps and two biases a layer), which is 74,880 for V = d = 64 and two
// layers, the count of the second paper's LSTM.
#pragma once

#include <cstdint>

#include "core/contract/experiment_config.h"
#include "core/models/mamba2_options.h"

namespace mambarium {

struct LstmOptions {
  std::int64_t states = 2;  // S: the size of the alphabet; 0: neither embedding nor read-out, rows() alone
  std::int64_t d_model = 8, layers = 1;
  Readout readout = Readout::softmax;
  std::uint64_t seed = 0;  // of the initial weights
};

// From a configuration that validate() finds nothing wrong with.
LstmOptions lstm_options(const ExperimentConfig& config);

}  // namespace mambarium
