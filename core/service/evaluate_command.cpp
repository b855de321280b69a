#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/analysis/comparison.h"
#include "core/contract/json_fields.h"
#include "core/contract/run_folder.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/loaded_run.h"

namespace mambarium {

namespace {

struct EvaluateOptions {
  std::string run;
  std::optional<std::int64_t> at;
  std::optional<std::int64_t> sequences;
  Engine engine = Engine::fused;
  bool as_json = false;
};

// Decay factors are looked at one sequence at a time, so not in all of a large test set.
constexpr std::int64_t decay_sequences = 64;

nlohmann::json to_json(const Measured& measured) {
  return {{"mean", measured.mean}, {"standard_error", measured.standard_error}};
}

void print_json(const LoadedRun& run, const Comparison& comparison, const DecayMeans& decay) {
  const nlohmann::json document = {
      {"checkpoint", run.checkpoint.string()},
      {"step", run.step},
      {"parameter_count", run.model->parameter_count()},
      {"sequences", comparison.sequences},
      {"unit", "nats per token"},
      {"model", to_json(comparison.model)},
      {"add_beta", to_json(comparison.add_beta)},
      {"oracle", to_json(comparison.oracle)},
      {"uniform", {{"mean", comparison.uniform}, {"standard_error", 0}}},
      {"gap_add_beta", to_json(comparison.gap_add_beta)},
      {"gap_oracle", to_json(comparison.gap_oracle)},
      {"total_variation", to_json(comparison.total_variation)},
      {"decay", {{"ordinary", number_or_null(decay.ordinary)}, {"at_switch", number_or_null(decay.at_switch)}}}};
  fmt::print("{}\n", document.dump(2));
}

void print_text(const LoadedRun& run, const Comparison& comparison, const DecayMeans& decay) {
  const auto line = [](const std::string& name, const Measured& measured) {
    fmt::print("{:<24} {:.5f} +- {:.5f}\n", name, measured.mean, measured.standard_error);
  };
  const std::string best = best_predictor_name(run.config);
  fmt::print("{}, step {}\n", run_title(run.config), run.step);
  fmt::print("{} sequences of {} tokens, nats per token +- standard error\n\n", comparison.sequences,
             run.config.integer("task.length"));
  line("model", comparison.model);
  line(best + (switch_token_of(run.config) ? " predictor" : " estimator"), comparison.add_beta);
  line("oracle", comparison.oracle);
  fmt::print("{:<24} {:.5f}\n\n", "uniform", comparison.uniform);
  line("gap to " + best, comparison.gap_add_beta);
  line("gap to the oracle", comparison.gap_oracle);
  fmt::print("\n");
  line("distance from " + best, comparison.total_variation);
  if (std::isfinite(decay.ordinary)) fmt::print("{:<24} {:.5f}\n", "mean a_t", decay.ordinary);
  if (std::isfinite(decay.at_switch)) fmt::print("{:<24} {:.5f}\n", "mean a_t at switches", decay.at_switch);
}

int evaluate_run(const EvaluateOptions& options) {
  if (options.sequences && *options.sequences < 2)
    throw bad_input("--sequences: " + std::to_string(*options.sequences) +
                    " gives no standard error, it must be at least 2");
  const LoadedRun run = load_run(options.run, options.at, options.engine);
  const auto sequences = options.sequences.value_or(run.config.integer("training.test_sequences"));
  const Comparison comparison = compare(*run.model, run.config, sequences);
  const DecayMeans decay = decay_means(*run.model, run.config, std::min(sequences, decay_sequences));
  if (options.as_json)
    print_json(run, comparison, decay);
  else
    print_text(run, comparison, decay);
  return exit_code::success;
}

}  // namespace

Command add_evaluate_command(CLI::App& program) {
  auto* command =
      program.add_subcommand("evaluate", "Test loss of a trained model beside the best possible predictors");
  const auto options = std::make_shared<EvaluateOptions>();
  command->add_option("run", options->run, "A run folder or a checkpoint file in one")->type_name("FOLDER")->required();
  command->add_option("--at", options->at, "The step of a checkpoint. Default: the newest.")->type_name("STEP");
  command->add_option("--sequences", options->sequences, "Test sequences. Default: as many as in training.")
      ->type_name("N");
  add_engine_flag(*command, options->engine);
  command->add_flag("--json", options->as_json, "As JSON");
  return {command, [options] { return evaluate_run(*options); }};
}

}  // namespace mambarium
