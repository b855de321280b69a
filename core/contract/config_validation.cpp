#include <cmath>

#include "core/contract/experiment_config.h"
#include "core/contract/model_start.h"
#include "core/contract/text.h"

namespace mambarium {

namespace {

constexpr double most_cells = 1 << 22;
constexpr double most_bytes = 64.0 * (1u << 30);

double cells(double states, double order) {
  return std::pow(states, order + 1);
}

std::optional<Problem> table_of_contexts(const ExperimentConfig& config) {
  if (!config.applies("task.order")) return std::nullopt;
  const auto order = config.integer("task.order"), states = config.integer("task.states");
  if (cells(static_cast<double>(states), static_cast<double>(order)) <= most_cells) return std::nullopt;
  std::int64_t fitting = order;
  while (fitting > 1 && cells(static_cast<double>(states), static_cast<double>(fitting)) > most_cells) --fitting;
  return Problem{"task.order", "order " + std::to_string(order) + " over " + std::to_string(states) + " states has " +
                                   std::to_string(states) + "^" + std::to_string(order + 1) +
                                   " transition probabilities, more than " + shortest(most_cells) +
                                   "; with these states the order can be " + std::to_string(fitting) + " at most"};
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

std::optional<Problem> whole_heads(const ExperimentConfig& config) {
  const auto headdim = config.integer("model.headdim"), d_inner = d_inner_of(config);
  if (headdim == 0 || d_inner % headdim == 0) return std::nullopt;
  return Problem{"model.headdim", std::to_string(headdim) +
                                      " does not divide d_inner = expand x d_model = " + std::to_string(d_inner) +
                                      "; choose a divisor of " + std::to_string(d_inner) + ", or 0 for one head"};
}

std::optional<Problem> memory(const ExperimentConfig& config) {
  if (table_of_contexts(config)) return std::nullopt;
  const double bytes = estimated_bytes(config);
  if (bytes <= most_bytes) return std::nullopt;
  return Problem{"training.batch",
                 "a step of " + std::to_string(config.integer("training.batch")) + " x " +
                     std::to_string(config.integer("task.length")) + " tokens with this model would take about " +
                     shortest(std::ceil(bytes / (1u << 30))) + " GiB of memory, more than " +
                     shortest(most_bytes / (1u << 30)) + "; lower the batch, the length or the model's sizes"};
}

}  // namespace

std::int64_t d_inner_of(const ExperimentConfig& config) {
  return config.integer("model.expand") * config.integer("model.d_model");
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
  return switch_token_of(config) ? "Bayes" : "add-" + shortest(config.real("task.beta"));
}

double estimated_bytes(const ExperimentConfig& config) {
  const auto number = [&](std::string_view key) { return static_cast<double>(config.integer(key)); };
  const double d_model = number("model.d_model"), d_state = number("model.d_state");
  const auto d_inner = static_cast<double>(d_inner_of(config));
  const bool has_mlp = config.applies("model.mlp") && config.text("model.mlp") != "none";
  const double tokens = number("training.batch") * number("task.length");
  // Floats that are kept from the forward to the backward pass, each with a gradient of its own size.
  const double per_layer = 7 * d_inner + 4 * d_state + (has_mlp ? 20 : 4) * d_model;
  const auto alphabet = static_cast<double>(alphabet_of(config));
  const double activations = tokens * (number("model.layers") * per_layer + 2 * d_model + 3 * alphabet) * 2;
  const double weights_per_layer = (3 * d_inner + 2 * d_state) * d_model + (has_mlp ? 12 : 0) * d_model * d_model;
  const double weights = number("model.layers") * weights_per_layer + 2 * alphabet * d_model;
  const double kernels_a_sequence =
      config.applies("task.p_switch") ? 1 + config.real("task.p_switch") * number("task.length") : 1;
  const double kernels = config.applies("task.order") ? number("training.batch") * kernels_a_sequence *
                                                            cells(number("task.states"), number("task.order"))
                                                      : 0;
  constexpr double copies_of_weights = 4;  // with gradient and AdamW's two moments
  return sizeof(float) * (activations + copies_of_weights * weights + kernels);
}

std::vector<Problem> ExperimentConfig::validate() const {
  std::vector<Problem> problems;
  for (const auto& check : {table_of_contexts, halves_of_two_states, stationary_start, length_above_order, whole_heads,
                            start_problem, memory})
    if (auto problem = check(*this)) problems.push_back(*std::move(problem));
  return problems;
}

}  // namespace mambarium
