// What panels ask of a Motif-Mamba and of an induction head, and the shape of each answer, as in inspection.h.
//
// n = d_state, r = rank, T tokens. One channel of one layer; where all channels share the coupling, M is every
// channel's. M = k P Q. JSON: to_json / from_json of each struct; from_json throws std::invalid_argument with one
// sentence on anything malformed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/tensor.h"

namespace mambarium {

// The wiring of the states. Censuses are by class of core/motif (16 of them), as shares of all triples of states.
struct CircuitData {
  std::int64_t step = 0, layer = 0, channel = 0;
  std::int64_t rank = 0;
  bool shared = true;                        // by all channels of the layer
  Tensor coupling = {};                      // M [n, n]
  double scale = 0;                          // k
  double theta = 0;                          // an edge where M_ij^2 is above
  bool causal = false;                       // edges go from j to i
  std::vector<double> soft = {}, hard = {};  // [16]
  std::vector<double> target = {};           // [13]; none where no motif is asked for
  double loss = 0, r_squared = 0;            // of the soft shares against the target; NaN without one
  double entropy = 0;                        // bits: mean over the edges of how undecided the soft ones are
  // Stability: the largest singular value of M against what the form of the recurrence bears (core/motif/coupling.h)
  // at the largest dt of the probe sequence.
  double norm = 0, bound = 0;
  double largest_dt = 0, slowest_decay = 0;  // slowest_decay: the smallest |A|
  // Relative error of h_T when the recurrence is replaced by so many corrections of a plain scan, 1, 2, 3.
  std::vector<double> picard = {};
};

// The window of a recording that a decoder's probe sequence is; its tokens number the bins of the window, from 0.
struct ProbeWindow {
  std::int64_t day = 0, first_bin = 0;  // of the recording's files from 0; of that day's bins
  std::int64_t label = 0;               // the direction or class it is of
  double bin_seconds = 0;               // 0: the files do not say
  bool operator==(const ProbeWindow&) const = default;
};

// All that z = Q h of one channel does along a probe sequence, and what its flow field is made of.
struct FlowData {
  std::int64_t step = 0, layer = 0, channel = 0;
  bool etd = false;                        // else euler
  std::vector<std::int32_t> tokens = {};   // T
  Tensor A = {};                           // [n], at most 0
  Tensor P = {}, Q = {};                   // k P [n, r] and Q [r, n]
  Tensor dt = {};                          // [T]
  Tensor drive = {};                       // [T, n]: B_t x_t
  Tensor z = {};                           // [T, r]: after each token
  std::optional<ProbeWindow> window = {};  // of a decoder alone
};

// Lemma 2: the state replayed from z, the inputs and the parameters, without the state itself.
struct ReconstructionData {
  std::int64_t step = 0, layer = 0, channel = 0;
  std::vector<std::int32_t> tokens;        // T
  Tensor state;                            // [T, n]: h_t as the model computes it
  Tensor replayed;                         // [T, n]
  std::vector<double> error;               // [T]: the largest |difference| of a state, everything in float64
  double float_error = 0;                  // the same of the model's own float32 states, the largest of all tokens
  std::optional<ProbeWindow> window = {};  // of a decoder alone
};

// How often the answer of an induction head is right, by length of the sequence.
struct ExtrapolationData {
  struct Point {
    std::int64_t length = 0, sequences = 0, right = 0;
    double low = 0, high = 0;  // Wilson interval of the share, 95 %
    double accuracy() const { return static_cast<double>(right) / static_cast<double>(sequences); }
  };
  std::int64_t step = 0;
  std::int64_t trained_length = 0;
  double chance = 0;  // 1 / (V - 1)
  std::vector<Point> points;
};

void to_json(nlohmann::json&, const CircuitData&);
void from_json(const nlohmann::json&, CircuitData&);
void to_json(nlohmann::json&, const FlowData&);
void from_json(const nlohmann::json&, FlowData&);
void to_json(nlohmann::json&, const ReconstructionData&);
void from_json(const nlohmann::json&, ReconstructionData&);
void to_json(nlohmann::json&, const ExtrapolationData&);
void from_json(const nlohmann::json&, ExtrapolationData&);

}  // namespace mambarium
