#include <algorithm>
#include <cmath>

#include "core/contract/experiment_config.h"
#include "core/contract/model_start.h"
#include "core/contract/motif_shares.h"
#include "core/contract/text.h"

namespace mambarium {

namespace {

constexpr std::int64_t simulated_trial_bins = 40;  // SimulatedSettings::trial_bins, which contract does not know
constexpr double most_cells = 1 << 22;
constexpr double most_bytes = 64.0 * (1u << 30);

double cells(double states, double order) {
  return std::pow(states, order + 1);
}

// Of one layer: what is kept for a token from the forward to the backward pass, and its weights.
struct LayerFloats {
  double per_token = 0, weights = 0;
};

// For every channel, where a layer is not one kernel.
double kept_beside_a_coupled_scan(double d_state) {
  constexpr double tokens_between_kept_states = 16;
  return 12 + d_state / tokens_between_kept_states;
}

double coupling_weights(const ExperimentConfig& config) {
  if (!has_coupling(config) || config.text("model.coupling_of") != "channel") return 0;
  const auto d_state = static_cast<double>(config.integer("model.d_state"));
  return 2 * static_cast<double>(config.integer("model.rank")) * d_state * static_cast<double>(d_inner_of(config));
}

LayerFloats mamba_layer(const ExperimentConfig& config) {
  const auto d_model = static_cast<double>(config.integer("model.d_model"));
  const auto d_state = static_cast<double>(config.integer("model.d_state"));
  const auto d_inner = static_cast<double>(d_inner_of(config));
  const bool has_mlp = config.applies("model.mlp") && config.text("model.mlp") != "none";
  const double of_channels = has_coupling(config) ? kept_beside_a_coupled_scan(d_state) : 7;
  return {of_channels * d_inner + 4 * d_state + (has_mlp ? 20 : 4) * d_model,
          (3 * d_inner + 2 * d_state) * d_model + (has_mlp ? 12 : 0) * d_model * d_model + coupling_weights(config)};
}

LayerFloats mamba1_layer(const ExperimentConfig& config) {
  const auto d_model = static_cast<double>(config.integer("model.d_model"));
  const auto d_state = static_cast<double>(config.integer("model.d_state"));
  const auto d_inner = static_cast<double>(d_inner_of(config));
  return {kept_beside_a_coupled_scan(d_state) * d_inner + 4 * d_state + 4 * d_model,
          (3 * d_model + 3 * d_state + 8) * d_inner + coupling_weights(config)};
}

LayerFloats recurrent_layer(const ExperimentConfig& config) {
  const auto d_model = static_cast<double>(config.integer("model.d_model"));
  return {24 * d_model, 14 * d_model * d_model};
}

LayerFloats transformer_layer(const ExperimentConfig& config) {
  const auto d_model = static_cast<double>(config.integer("model.d_model"));
  const bool convolved = config.text("model.conv_qkv") != "none";
  const double taps = convolved ? 2 * static_cast<double>(config.integer("model.d_conv")) : 0;
  return {(17 + 3 * taps) * d_model, 12 * d_model * d_model};
}

LayerFloats layer_floats(const ExperimentConfig& config) {
  const std::string& kind = config.text("model.kind");
  if (is_mamba(config)) return mamba_layer(config);
  if (kind == "mamba1") return mamba1_layer(config);
  if (kind == "transformer") return transformer_layer(config);
  return kind == "ngram" ? LayerFloats{} : recurrent_layer(config);
}

// Floats for a token: a weight for every token of the sequence and head, kept by every layer, with some in the making.
// Linear attention has two within chunks of 64 tokens.
double attention_weights(const ExperimentConfig& config) {
  const auto length = static_cast<double>(length_of(config));
  constexpr double chunk = 64, in_the_making = 3;
  const double seen = config.text("model.attention") == "linear" ? 2 * std::min(length, chunk) : length;
  const auto heads = static_cast<double>(config.integer("model.d_model")) / static_cast<double>(headdim_of(config));
  return heads * seen * (static_cast<double>(config.integer("model.layers")) + in_the_making);
}

// Of all windows of a simulated day. What a file holds is seen when it is read.
double window_numbers(const ExperimentConfig& config) {
  if (!config.applies("task.trials")) return 0;
  const auto number = [&](std::string_view key) { return static_cast<double>(config.integer(key)); };
  const double places = static_cast<double>(simulated_trial_bins) + 1 - number("task.window");
  return number("task.trials") * std::max(places, 1.0) * number("task.window") * number("task.channels");
}

std::optional<Problem> fitting_table(std::string_view key, std::int64_t order, std::int64_t states, const char* what) {
  const auto fits = [&](std::int64_t lower) {
    return cells(static_cast<double>(states), static_cast<double>(lower)) <= most_cells;
  };
  if (fits(order)) return std::nullopt;
  std::int64_t fitting = order;
  while (fitting > 1 && !fits(fitting)) --fitting;
  return Problem{std::string(key), "order " + std::to_string(order) + " over " + std::to_string(states) +
                                       " states has " + std::to_string(states) + "^" + std::to_string(order + 1) + " " +
                                       what + ", more than " + shortest(most_cells) +
                                       "; with these states the order can be " + std::to_string(fitting) + " at most"};
}

std::optional<Problem> table_of_contexts(const ExperimentConfig& config) {
  if (!config.applies("task.order")) return std::nullopt;
  return fitting_table("task.order", config.integer("task.order"), config.integer("task.states"),
                       "transition probabilities");
}

std::optional<Problem> table_of_counts(const ExperimentConfig& config) {
  if (!config.applies("model.ngram_order")) return std::nullopt;
  return fitting_table("model.ngram_order", config.integer("model.ngram_order"), alphabet_of(config), "counts");
}

std::optional<Problem> halves_of_two_states(const ExperimentConfig& config) {
  if (!config.applies("task.kernels") || config.text("task.kernels") != "holdout") return std::nullopt;
  const auto states = config.integer("task.states");
  if (states == 2) return std::nullopt;
  return Problem{"task.kernels", "holdout divides the kernels of 2 states, and there are " + std::to_string(states) +
                                     "; choose random kernels or 2 states"};
}

std::optional<Problem> stationary_start(const ExperimentConfig& config) {
  if (!config.applies("task.start") || config.text("task.start") != "stationary") return std::nullopt;
  const auto order = static_cast<double>(config.integer("task.order"));
  const double contexts = cells(static_cast<double>(config.integer("task.states")), order - 1);
  if (contexts <= static_cast<double>(most_stationary_contexts)) return std::nullopt;
  return Problem{"task.start", "a stationary start is computed for at most " +
                                   std::to_string(most_stationary_contexts) + " contexts S^k, and there are " +
                                   shortest(contexts) + "; choose a uniform start, a lower order or fewer states"};
}

std::optional<Problem> length_above_order(const ExperimentConfig& config) {
  if (!config.applies("task.order")) return std::nullopt;
  const auto order = config.integer("task.order"), length = config.integer("task.length");
  if (length > order) return std::nullopt;
  return Problem{"task.length", "sequences of " + std::to_string(length) + " tokens show nothing of a chain of order " +
                                    std::to_string(order) + "; the length must be above the order"};
}

// A key, its value, both again and the token between them: what the shortest sequence of the task holds.
std::optional<Problem> room_for_recall(const ExperimentConfig& config) {
  if (config.text("task.kind") != "induction") return std::nullopt;
  constexpr std::int64_t fewest_tokens = 8, fewest_states = 4;
  if (const auto length = config.integer("task.length"); length < fewest_tokens)
    return Problem{"task.length", std::to_string(length) +
                                      " tokens have no room for a key, its value and both again; "
                                      "induction needs " +
                                      std::to_string(fewest_tokens) + " at least"};
  if (const auto states = config.integer("task.states"); states < fewest_states)
    return Problem{"task.states", "induction draws from tokens 1 to S-1 and needs three of them, so S = " +
                                      std::to_string(fewest_states) + " at least and not " + std::to_string(states) +
                                      "; the paper has 64"};
  return std::nullopt;
}

// The short sequences of the first steps have to hold what the task's do.
std::optional<Problem> first_length(const ExperimentConfig& config) {
  if (!config.applies("training.first_length")) return std::nullopt;
  const auto first = config.integer("training.first_length"), length = config.integer("task.length");
  if (first == 0) return std::nullopt;
  if (first > length)
    return Problem{"training.first_length", std::to_string(first) + " tokens are more than the " +
                                                std::to_string(length) +
                                                " of task.length; choose fewer, or 0 for that length from the start"};
  ExperimentConfig begun = config;
  if (begun.set("task.length", first))
    return Problem{"training.first_length", std::to_string(first) +
                                                " token is none with a next one after it; choose 2 at least, or 0 for "
                                                "the task's length from the start"};
  for (const auto& check : {length_above_order, room_for_recall})
    if (const auto problem = check(begun); problem && problem->where == "task.length")
      return Problem{"training.first_length", problem->message};
  return std::nullopt;
}

std::optional<Problem> no_recall_by_counting(const ExperimentConfig& config) {
  if (config.text("task.kind") != "induction" || config.text("model.kind") != "ngram") return std::nullopt;
  return Problem{"model.kind",
                 "ngram counts how a chain goes on, which says nothing about induction; choose a model "
                 "that learns"};
}

std::optional<Problem> something_to_decode(const ExperimentConfig& config) {
  if (!is_decoder(config)) return std::nullopt;
  if (config.text("model.kind") == "ngram")
    return Problem{"model.kind", "ngram counts tokens, and a recording has none; choose a model that learns"};
  const std::string& recording = config.text("task.recording");
  if (recording == "windows" && decodes_outputs(config))
    return Problem{"task.answer",
                   "files of windows hold directions and no outputs; choose direction, or a recording "
                   "that is simulated or xds"};
  if (const auto window = config.integer("task.window"); recording == "simulated" && window > simulated_trial_bins)
    return Problem{"task.window", std::to_string(window) + " bins are longer than a simulated reach of " +
                                      std::to_string(simulated_trial_bins) + "; choose so many at most"};
  return std::nullopt;
}

std::optional<Problem> motif_profile(const ExperimentConfig& config) {
  if (!config.applies("model.motif_profile")) return std::nullopt;
  if (const auto read = motif_shares_from(config.text("model.motif_profile")); read.problem.empty())
    return std::nullopt;
  else
    return Problem{"model.motif_profile", read.problem};
}

std::optional<Problem> room_for_a_triad(const ExperimentConfig& config) {
  if (!config.applies("model.motif_weight")) return std::nullopt;
  constexpr std::int64_t nodes = 3;
  const auto states = config.integer("model.d_state");
  if (states >= nodes) return std::nullopt;
  return Problem{"model.d_state", "a triad needs 3 nodes, and there " +
                                      std::string(states == 1 ? "is 1 state" : "are 2 states") +
                                      " for model.motif to wire; choose 3 at least, or model.motif none"};
}

std::optional<Problem> whole_heads(const ExperimentConfig& config) {
  if (!config.applies("model.headdim")) return std::nullopt;
  const auto headdim = config.integer("model.headdim"), d_inner = d_inner_of(config);
  if (headdim == 0 || d_inner % headdim == 0) return std::nullopt;
  const std::string shared = is_mamba(config) ? "d_inner = expand x d_model" : "d_model";
  return Problem{"model.headdim", std::to_string(headdim) + " does not divide " + shared + " = " +
                                      std::to_string(d_inner) + "; choose a divisor of " + std::to_string(d_inner) +
                                      ", or 0 for one head"};
}

std::optional<Problem> device(const ExperimentConfig& config) {
  if (config.text("run.device") != "cuda" || trains_on_gpu(config)) return std::nullopt;
  return Problem{"run.device", "the GPU does not train model.kind " + config.text("model.kind") +
                                   " with these settings; choose cpu or auto"};
}

std::optional<Problem> memory(const ExperimentConfig& config) {
  if (table_of_contexts(config)) return std::nullopt;
  const double bytes = estimated_bytes(config);
  if (bytes <= most_bytes) return std::nullopt;
  return Problem{"training.batch", "a step of " + std::to_string(config.integer("training.batch")) + " x " +
                                       std::to_string(length_of(config)) + (is_decoder(config) ? " bins" : " tokens") +
                                       " with this model would take about " + shortest(std::ceil(bytes / (1u << 30))) +
                                       " GiB of memory, more than " + shortest(most_bytes / (1u << 30)) +
                                       "; lower the batch, the length or the model's sizes"};
}

}  // namespace

bool is_mamba(const ExperimentConfig& config) {
  const std::string& kind = config.text("model.kind");
  return kind == "mamba2" || kind == "mamba_zero";
}

bool has_kernels(const ExperimentConfig& config) {
  return is_mamba(config) || config.text("model.kind") == "mamba1";
}

bool has_coupling(const ExperimentConfig& config) {
  return config.applies("model.rank");
}

bool scores_one_token(const ExperimentConfig& config) {
  return config.text("task.kind") == "induction";
}

bool is_decoder(const ExperimentConfig& config) {
  return config.text("task.kind") == "decoding";
}

bool decodes_outputs(const ExperimentConfig& config) {
  return is_decoder(config) && config.text("task.answer") == "outputs";
}

std::int64_t length_of(const ExperimentConfig& config) {
  return config.integer(is_decoder(config) ? "task.window" : "task.length");
}

bool trains_on_gpu(const ExperimentConfig& config) {
  const bool has_filters = config.applies("model.conv_filters");
  return is_mamba(config) && !has_coupling(config) && !scores_one_token(config) && !is_decoder(config) &&
         (!has_filters || config.text("model.conv_filters") == "per_channel");
}

std::int64_t d_inner_of(const ExperimentConfig& config) {
  return (has_kernels(config) ? config.integer("model.expand") : 1) * config.integer("model.d_model");
}

std::int64_t headdim_of(const ExperimentConfig& config) {
  const auto headdim = config.integer("model.headdim");
  return headdim == 0 ? d_inner_of(config) : headdim;
}

std::optional<std::int32_t> switch_token_of(const ExperimentConfig& config) {
  if (config.text("task.kind") != "switching") return std::nullopt;
  return static_cast<std::int32_t>(config.integer("task.states"));
}

std::int64_t alphabet_of(const ExperimentConfig& config) {
  return config.integer("task.states") + (switch_token_of(config) ? 1 : 0);
}

std::string best_predictor_name(const ExperimentConfig& config) {
  if (config.text("task.kind") == "induction") return "recall";
  if (is_decoder(config)) return "ideal decoder";
  return switch_token_of(config) ? "Bayes" : "add-" + shortest(config.real("task.beta"));
}

double estimated_bytes(const ExperimentConfig& config) {
  const auto number = [&](std::string_view key) { return static_cast<double>(config.integer(key)); };
  const auto length = static_cast<double>(length_of(config));
  const double tokens = number("training.batch") * length;
  const auto alphabet = static_cast<double>(alphabet_of(config));
  const std::string& kind = config.text("model.kind");
  const bool is_transformer = kind == "transformer";
  const LayerFloats layer = layer_floats(config);
  const double embedded = kind == "ngram" ? 0 : 2 * number("model.d_model");
  const double attended = is_transformer ? attention_weights(config) : 0;
  const double activations =
      tokens * ((number("model.layers") * layer.per_token + embedded + 3 * alphabet) * 2 + attended);
  const double positions = is_transformer ? length * number("model.d_model") : 0;
  const double weights = number("model.layers") * layer.weights + alphabet * embedded + positions;
  const double kernels_a_sequence = config.applies("task.p_switch") ? 1 + config.real("task.p_switch") * length : 1;
  const double kernels = config.applies("task.order") ? number("training.batch") * kernels_a_sequence *
                                                            cells(number("task.states"), number("task.order"))
                                                      : 0;
  const double test_set = is_decoder(config) ? window_numbers(config) : number("training.test_sequences") * length;
  constexpr double copies_of_weights = 4;  // with gradient and AdamW's two moments
  return sizeof(float) * (activations + copies_of_weights * weights + kernels + test_set);
}

std::vector<Problem> ExperimentConfig::validate() const {
  std::vector<Problem> problems;
  for (const auto& check :
       {table_of_contexts, table_of_counts, halves_of_two_states, stationary_start, length_above_order, room_for_recall,
        first_length, no_recall_by_counting, something_to_decode, motif_profile, room_for_a_triad, whole_heads,
        start_problem, device, memory})
    if (auto problem = check(*this)) problems.push_back(*std::move(problem));
  return problems;
}

}  // namespace mambarium
