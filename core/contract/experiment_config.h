// ExperimentConfig: a value for every property, and the ways in and out of it.
//
// A value type: copy it, compare it, send it. It always holds a value for every key of the property table (defaults
// first), each of the right type; whether the values fit together is what validate() says. Access by a key that is not
// in the table, or by the wrong type, is a programming error and throws std::logic_error.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/contract/property.h"

namespace mambarium {

// One thing that is wrong with an input: where, what, and what would be right. Prints as "where: message".
struct Problem {
  std::string where;
  std::string message;
  bool operator==(const Problem&) const = default;
};
std::string to_string(const Problem& problem);
std::string to_string(std::span<const Problem> problems);  // one line each

class ExperimentConfig {
 public:
  ExperimentConfig();  // every property at its default

  const PropertyValue& value(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  const std::string& text(std::string_view key) const;               // text, choice and choice_set
  bool includes(std::string_view key, std::string_view item) const;  // is `item` in this choice_set?

  // Checks type, range and choices of this one value; on a problem the old value stays.
  // An integer is accepted for a real. set_from_string reads what a person types ("2e-3", "on", "x, B").
  std::optional<Problem> set(std::string_view key, PropertyValue value);
  std::optional<Problem> set_from_string(std::string_view key, std::string_view typed);

  // Does the property have an effect under the current values? (Property::applies_when, transitively.)
  bool applies(std::string_view key) const;

  // Everything that is wrong between the values, all at once: headdim that does not divide d_inner, an order and
  // alphabet whose table of contexts would not fit, a sequence shorter than the order ... Empty when the config can
  // run.
  std::vector<Problem> validate() const;

  bool operator==(const ExperimentConfig&) const = default;

 private:
  std::vector<PropertyValue> values_;  // in the order of property_table()
};

// Of these settings, those that are not at their defaults and yet have no effect, in the order of the table: a sentence
// for each, "model.rank has no effect here: model.coupling is none." The reason is the condition that applies() asks.
std::vector<std::string> without_effect(const ExperimentConfig& config, std::span<const std::string> keys);

// mamba2 or mamba_zero: what whole-model kernels compute.
bool is_mamba(const ExperimentConfig& config);
// These and mamba1: what the hand-written kernels compute, wholly or scan by scan.
bool has_kernels(const ExperimentConfig& config);
// A Motif-Mamba: whether the states of a channel are coupled.
bool has_coupling(const ExperimentConfig& config);
// Whether one target of a sequence counts and not all T: the answer of an induction head.
bool scores_one_token(const ExperimentConfig& config);
// Whether windows of recorded channels are read and not tokens, and whether their outputs (kinematics, muscles) are
// asked for and not the direction.
bool is_decoder(const ExperimentConfig& config);
bool decodes_outputs(const ExperimentConfig& config);
// What a model reads of a sequence: T tokens; of a decoder the bins of a window.
std::int64_t length_of(const ExperimentConfig& config);
// Whether the kernels of gpu/ take its training steps: a Mamba with a filter of its own for every channel
// and states that are not coupled.
bool trains_on_gpu(const ExperimentConfig& config);
// Sizes that follow from the settings: what the heads share (d_inner = expand x d_model; in a transformer d_model), and
// the width of a head (headdim 0: all of it).
std::int64_t d_inner_of(const ExperimentConfig& config);
std::int64_t headdim_of(const ExperimentConfig& config);
// Tokens a model reads and predicts: 0 to S-1, and the switch token S where the task has one.
std::int64_t alphabet_of(const ExperimentConfig& config);
std::optional<std::int32_t> switch_token_of(const ExperimentConfig& config);
// Contexts S^k of a chain whose stationary distribution is still computed for every sequence.
inline constexpr std::int64_t most_stationary_contexts = 64;
// What the best possible predictor of the task is called: "add-1", "Bayes", "recall", "ideal decoder". The numbers
// called add_beta (metrics.csv, JSON, panels' tables) are its.
std::string best_predictor_name(const ExperimentConfig& config);
// Roughly what one training step holds in memory: activations with gradients, weights with optimiser state, kernels.
double estimated_bytes(const ExperimentConfig& config);

// Reading never stops at the first fault: `problems` holds all of them (unknown keys with the nearest known one, wrong
// types, values out of range, then validate()'s). With problems, `config` holds the good values and defaults elsewhere.
// `named`: the settings that a JSON document names, as far as they are good.
struct ParsedConfig {
  ExperimentConfig config;
  std::vector<Problem> problems;
  std::vector<std::string> named = {};
};

// JSON nests by the dot: {"task": {"order": 1}, "model": {...}}; missing keys take defaults. Output holds every key.
nlohmann::json to_json(const ExperimentConfig& config);
ParsedConfig config_from_json(const nlohmann::json& document);
ParsedConfig config_from_file(
    const std::string& path);  // unreadable or not JSON: one Problem naming path, line, column

// "mambarium1:model.conv=none;training.seed=3": only what differs from the defaults, in table order.
std::string share_string(const ExperimentConfig& config);
ParsedConfig config_from_share_string(std::string_view text);

// What a value looks like to a person and in set_from_string ("0.002", "on", "x,B,C"); reals round-trip exactly.
std::string value_to_string(const PropertyValue& value);

std::string property_range_text(
    const Property& property);    // "a whole number from 1 to 1024", "one of silu, relu, none"
std::string settings_markdown();  // docs/settings.md, whole

}  // namespace mambarium
