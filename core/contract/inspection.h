// What a panel can ask a worker about a model, and the shape of each answer.
//
// A question is a kind and a few numbers; an answer is plain numbers. These structs are the border between analysis
// (which computes them from a model) and the panels (which draw them): neither knows the other.
// L layers, H heads, T tokens, S states, k order, w window, P = headdim, N = d_state. JSON: to_json / from_json of each
// struct; from_json throws std::invalid_argument with one sentence on anything malformed. A question that a model has
// no answer to (the state of a model without one) is refused with one sentence, never answered with an empty picture.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/contract/tensor.h"

namespace mambarium {

struct InspectRequest {
  std::string what;                     // one of inspection_kinds()
  std::int64_t probe = 0;               // which probe sequence (decay, prediction, state), 0 .. probe_count-1
  std::optional<std::int64_t> at = {};  // a checkpoint's step; empty: the model as it is now
  std::int64_t layer = 0;               // which layer (state, inner_products), 0 .. L-1
  std::int64_t head = 0;                // which head (state), 0 .. H-1
  double epsilon = 0.01, beta = 1;      // of theorem4
  bool operator==(const InspectRequest&) const = default;
};
inline constexpr std::int64_t probe_count = 8;
// "decay", "filters", "prediction", "state", "inner_products", "quantisation", "theorem4".
std::span<const std::string_view> inspection_kinds();

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

// The recurrent state along a probe sequence beside the counts of transitions that the task's best predictor keeps, and
// what a linear map reads of these counts out of the state. Contexts and successors are ordinary states 0 .. S-1; row
// number of a context: its oldest token counts most.
struct StateData {
  std::int64_t step = 0;
  std::int64_t order = 1, states = 2;  // k, S (without the switch token)
  std::int64_t layer = 0, head = 0;    // whose state `state` is
  std::vector<std::int32_t> tokens;    // T
  Tensor state;                        // [T, P, N]: H_t after token t
  Tensor counts;                       // [T, S^k, S]: n_ij after token t; where chains switch, since the last switch
  Tensor read_out;                     // [T, S^k, S]: n_ij by the linear map
  double r_squared = 0;  // of the map, on sequences it was not fitted to: 1 - SSE / SST over all cells and positions
  double r_squared_tokens =
      0;  // of such a map from how often each token came: what is known without seeing two at once
};

// Figure 5 of the paper: b(v) . c(u) for all windows v and u of w tokens, b and c as the model computes them from a
// window alone (after convolution and activation; dt is folded into x, not into b). A counting model has 1{the last
// k of u are the k before the newest of v} times some number.
struct InnerProductData {
  std::int64_t step = 0;
  std::int64_t window = 1;           // w
  std::vector<std::string> windows;  // W = S^w: "00", "01", ...: oldest token first; above 10 tokens "0,11"
  Tensor products;                   // [W, W]: row v, column u
};
inline constexpr std::int64_t most_windows = 64;  // W above this is refused

// The loss when every number of the recurrent state is rounded to p bits after every token.
struct QuantisationData {
  std::int64_t step = 0;
  std::vector<std::int64_t> bits = {};                // p: 2 .. 16, and last 32: the float32 numbers as they are
  std::vector<double> gap = {}, standard_error = {};  // to the task's best predictor, nats per token; one for each p
  std::int64_t state_numbers = 0;                     // d: numbers of the whole recurrent state
};

// The construction of Theorem 4 measured beside what the theorem promises: KL(add-beta || construction) <= epsilon
// after every prefix of every sequence. Independent of the run's model.
struct TheoremData {
  struct Divergence {
    std::int64_t sequences = 0, length = 0;  // so many, of so many tokens; every prefix counts
    double mean = 0, largest = 0;            // nats
  };
  double epsilon = 0.01, beta = 1;
  Divergence every_short;  // all sequences of that length, so all shorter ones too
  Divergence random_long;
  Tensor embedding;       // [2, d = 2]: row = token
  Tensor conv_x, conv_B;  // [w = 2] taps of every channel, oldest first
};

void to_json(nlohmann::json&, const InspectRequest&);
void from_json(const nlohmann::json&, InspectRequest&);
void to_json(nlohmann::json&, const DecayData&);
void from_json(const nlohmann::json&, DecayData&);
void to_json(nlohmann::json&, const FilterData&);
void from_json(const nlohmann::json&, FilterData&);
void to_json(nlohmann::json&, const PredictionData&);
void from_json(const nlohmann::json&, PredictionData&);
void to_json(nlohmann::json&, const StateData&);
void from_json(const nlohmann::json&, StateData&);
void to_json(nlohmann::json&, const InnerProductData&);
void from_json(const nlohmann::json&, InnerProductData&);
void to_json(nlohmann::json&, const QuantisationData&);
void from_json(const nlohmann::json&, QuantisationData&);
void to_json(nlohmann::json&, const TheoremData&);
void from_json(const nlohmann::json&, TheoremData&);

}  // namespace mambarium
