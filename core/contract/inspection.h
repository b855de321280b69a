// What a panel can ask a worker about a model, and the shape of each answer.
//
// A question is a kind and a few integers; an answer is plain numbers. These structs are the border between analysis
// (which computes them from a model) and the panels (which draw them): neither knows the other.
// L layers, H heads, T tokens, S states. JSON: to_json / from_json of each struct; from_json throws
// std::invalid_argument with one sentence on anything malformed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/contract/tensor.h"

namespace mambarium {

struct InspectRequest {
  std::string what;                // "decay", "filters" or "prediction"
  std::int64_t probe = 0;          // which probe sequence (decay, prediction), 0 .. probe_count-1
  std::optional<std::int64_t> at;  // a checkpoint's step; empty: the model as it is now
  bool operator==(const InspectRequest&) const = default;
};
inline constexpr std::int64_t probe_count = 8;

// Decay factors a_t of every head along a probe sequence. 1 keeps the counts, 0 forgets them.
struct DecayData {
  std::int64_t step = 0;
  std::vector<std::int32_t> tokens;  // T
  Tensor decay;                      // [L, H, T]
};

// Convolution taps; index w-1 is the current token, 0 the oldest.
struct FilterData {
  struct Filter {
    std::string name;  // of what passes through it: x, B, C; in a transformer Q, K, V
    Tensor taps;       // [channels, w]; one channel where one filter is all channels'
    Tensor bias;       // [channels]; [0] where there is none
  };
  using Layer = std::vector<Filter>;  // in this order; what has no convolution is not there
  std::int64_t step = 0;
  std::vector<Layer> layers;  // L
};

// P(next token = s) after each prefix of a probe sequence: by the model, the best possible predictor
// (add_beta; the Bayes predictor where chains switch), the oracle.
struct PredictionData {
  std::int64_t step = 0;
  std::int64_t order = 1;
  std::vector<std::int32_t> tokens;  // T inputs; row t of the tensors predicts the token at t+1
  std::int32_t last_target = 0;      // the token after the last input
  Tensor model, add_beta, oracle;    // [T, S] probabilities
};

// Why this question about a model of this kind has no answer, as one sentence; nothing where it has one.
std::optional<std::string> nothing_to_inspect(const ExperimentConfig& config, std::string_view what);

void to_json(nlohmann::json&, const InspectRequest&);
void from_json(const nlohmann::json&, InspectRequest&);
void to_json(nlohmann::json&, const DecayData&);
void from_json(const nlohmann::json&, DecayData&);
void to_json(nlohmann::json&, const FilterData&);
void from_json(const nlohmann::json&, FilterData&);
void to_json(nlohmann::json&, const PredictionData&);
void from_json(const nlohmann::json&, PredictionData&);

}  // namespace mambarium
