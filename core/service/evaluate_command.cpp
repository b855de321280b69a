#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/analysis/comparison.h"
#include "core/analysis/inner_products.h"
#include "core/analysis/state_read_out.h"
#include "core/contract/json_fields.h"
#include "core/contract/run_folder.h"
#include "core/contract/yardsticks.h"
#include "core/service/answers_report.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/coupling_report.h"
#include "core/service/decoding_report.h"
#include "core/service/help_text.h"
#include "core/service/loaded_run.h"
#include "core/service/picard_report.h"
#include "core/service/progress.h"

namespace mambarium {

namespace {

struct EvaluateOptions {
  std::string run;
  std::optional<std::int64_t> at;
  std::optional<std::int64_t> sequences;
  std::optional<std::string> lengths;
  std::optional<std::int64_t> picard;
  Engine engine = Engine::fused;
  bool as_json = false;
};

// Decay factors are looked at one sequence at a time, so not in all of a large test set.
constexpr std::int64_t decay_sequences = 64;

// What is inside the model. NaN: it has no such part.
struct Inside {
  DecayMeans decay;
  CountsReadOut counts;
  double inner_product_leak = 0;
};

struct Measures {
  Comparison comparison;
  Inside inside;
};

Measures measure(const LoadedRun& run, std::int64_t sequences) {
  PassingLine line(stderr);
  const Comparison comparison = compare(*run.model, run.config, sequences, [&](std::int64_t done) {
    line.show(fmt::format("{} of {} sequences", done, sequences));
  });
  line.show("decay factors, counts in the state and inner products");
  return {comparison,
          {decay_means(*run.model, run.config, std::min(sequences, decay_sequences)),
           counts_read_out(*run.model, run.config), inner_product_leak(*run.model, run.config)}};
}

nlohmann::json to_json(const Measured& measured) {
  return {{"mean", measured.mean}, {"standard_error", measured.standard_error}};
}

void print_json(const LoadedRun& run, const Comparison& comparison, const Inside& inside,
                const std::optional<PicardComparison>& picard) {
  const Yardsticks names = yardsticks(run.config);
  nlohmann::json document = {
      {"checkpoint", run.checkpoint.string()},
      {"step", run.step},
      {"parameter_count", run.model->parameter_count()},
      {"sequences", comparison.sequences},
      {"unit", loss_unit(run.config)},
      {"model", to_json(comparison.model)},
      {names.best, to_json(comparison.add_beta)},
      {names.oracle, to_json(comparison.oracle)},
      {names.same, {{"mean", comparison.uniform}, {"standard_error", 0}}},
      {"gap_" + names.best, to_json(comparison.gap_add_beta)},
      {"gap_" + names.oracle, to_json(comparison.gap_oracle)},
      {"total_variation", to_json(comparison.total_variation)},
      {"decay",
       {{"ordinary", number_or_null(inside.decay.ordinary)}, {"at_switch", number_or_null(inside.decay.at_switch)}}},
      {"read_out",
       {{"state", number_or_null(inside.counts.from_state)}, {"tokens", number_or_null(inside.counts.from_tokens)}}},
      {"inner_product_leak", number_or_null(inside.inner_product_leak)}};
  add_coupling(document, run);
  add_picard(document, picard);
  fmt::print("{}\n", document.dump(2));
}

void print_text(const LoadedRun& run, const Comparison& comparison, const Inside& inside,
                const std::optional<PicardComparison>& picard) {
  const auto line = [](const std::string& name, const Measured& measured) {
    fmt::print("{:<24} {:.5f} +- {:.5f}\n", name, measured.mean, measured.standard_error);
  };
  const std::string best = best_predictor_name(run.config);
  fmt::print("{}, step {}\n", run_title(run.config), run.step);
  fmt::print("{} sequences of {} tokens, {} +- standard error\n\n", comparison.sequences,
             run.config.integer("task.length"), loss_unit(run.config));
  line("model", comparison.model);
  line(best + (switch_token_of(run.config) ? " predictor" : " estimator"), comparison.add_beta);
  line("oracle", comparison.oracle);
  fmt::print("{:<24} {:.5f}\n\n", "uniform", comparison.uniform);
  line("gap to " + best, comparison.gap_add_beta);
  line("gap to the oracle", comparison.gap_oracle);
  fmt::print("\n");
  line("distance from " + best, comparison.total_variation);
  const auto known = [](const char* name, double value) {
    if (std::isfinite(value)) fmt::print("{:<24} {:.5f}\n", name, value);
  };
  known("mean a_t", inside.decay.ordinary);
  known("mean a_t at switches", inside.decay.at_switch);
  known("R^2 state to counts", inside.counts.from_state);
  known("R^2 tokens to counts", inside.counts.from_tokens);
  known("b.c leak", inside.inner_product_leak);
  print_coupling(run);
  print_picard(picard);
}

int evaluate_run(const EvaluateOptions& options) {
  const auto most = static_cast<std::int64_t>(find_property("training.test_sequences")->maximum);
  if (options.sequences && (*options.sequences < 2 || *options.sequences > most))
    throw bad_input(fmt::format("--sequences: {} is not a number from 2, the fewest with a standard error, to {}",
                                *options.sequences, most));
  const LoadedRun run = load_run(options.run, options.at, options.engine);
  const auto sequences = options.sequences.value_or(run.config.integer("training.test_sequences"));
  if (is_decoder(run.config)) {
    if (options.sequences || options.lengths)
      throw bad_input(std::string(options.sequences ? "--sequences" : "--lengths") +
                      ": a decoder is judged by all windows of the test part, which have one length");
    return report_decoding(run, compare_picard(run, options.picard, sequences), options.as_json);
  }
  if (scores_one_token(run.config))
    return report_answers(run, {.sequences = sequences,
                                .lengths = options.lengths,
                                .at_each_length = options.sequences,
                                .picard = compare_picard(run, options.picard, sequences),
                                .as_json = options.as_json});
  if (options.lengths)
    throw bad_input("--lengths: only of an induction head (task.kind induction) the answers are counted by length");
  const auto picard = compare_picard(run, options.picard, sequences);
  const auto [comparison, inside] = measure(run, sequences);
  if (options.as_json)
    print_json(run, comparison, inside, picard);
  else
    print_text(run, comparison, inside, picard);
  return exit_code::success;
}

}  // namespace

Command add_evaluate_command(CLI::App& program) {
  auto* command =
      program.add_subcommand("evaluate", "Test loss of a trained model beside the best possible predictors");
  const auto options = std::make_shared<EvaluateOptions>();
  command->add_option("run", options->run, "A run folder or a checkpoint file in one")->type_name("FOLDER")->required();
  command->add_option("--at", options->at, "The step of a checkpoint. Default: the newest.")->type_name("STEP");
  command
      ->add_option("--sequences", options->sequences,
                   wrapped("Test sequences, and of an induction head sequences of each length. Default: as many as in "
                           "training, and about 131072 tokens of each length, but at least 32 sequences."))
      ->type_name("N");
  command
      ->add_option("--lengths", options->lengths,
                   wrapped("Of an induction head: at which lengths answers are counted. Default: 64 to 16384 by "
                           "doubling."))
      ->type_name("L,L,...");
  command
      ->add_option("--picard", options->picard,
                   wrapped("Of a coupled mamba1: evaluate by so many plain scans, too, each fed by the coupling of the "
                           "one before, 1 to 16."))
      ->type_name("K");
  add_engine_flag(*command, options->engine);
  command->add_flag("--json", options->as_json, "As JSON");
  return {command, [options] { return evaluate_run(*options); }};
}

}  // namespace mambarium
