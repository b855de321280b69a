// Rwkv4Options: RWKV-4 as plain numbers, read from an ExperimentConfig once.
//
// It counts, with V = alphabet and d = d_model,
//   2 V d + 4 d + layers (13 d^2 + 11 d)
// which for V = 64 and two layers is 72,700 at d = 50, the nearest to the 74,000 of the Mamba models it is compared
// with (75,480 at d = 51); the second paper's own width of 72 counts 145,872.
#pragma once

#include <cstdint>

#include "core/contract/experiment_config.h"
#include "core/models/mamba2_options.h"

namespace mambarium {

struct Rwkv4Options {
  std::int64_t states = 2;  // S: the size of the alphabet; 0: neither embedding nor read-out, rows() alone
  std::int64_t d_model = 8, layers = 1;
  Readout readout = Readout::softmax;
  std::uint64_t seed = 0;  // of the initial weights
  int threads = 1;         // of the recurrence

  std::int64_t d_ffn() const { return 4 * d_model; }
};

// From a configuration that validate() finds nothing wrong with.
Rwkv4Options rwkv4_options(const ExperimentConfig& config);

}  // namespace mambarium
