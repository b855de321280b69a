#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "core/analysis/quantisation.h"
#include "core/contract/lower_bound.h"
#include "core/contract/text.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/help_text.h"
#include "core/service/loaded_run.h"
#include "core/theory/no_go.h"
#include "core/theory/theory_bench.h"

namespace mambarium {

namespace {

struct TheoryOptions {
  std::string run;
  std::optional<std::int64_t> at;
  std::string format = "text";
};

constexpr double bound_epsilon = 0.01;
constexpr std::int64_t highest_order = 10, highest_no_go_order = 5;

struct TheoryReport {
  std::vector<ConstructionRow> constructions;
  std::vector<ConfusionRow> confusion;
  std::optional<QuantisationData> quantisation;
};

// What of the settings tells one row of a construction from another.
std::string particulars(const ConstructionSettings& settings) {
  std::string text = fmt::format("S={} k={} beta={}", settings.states, settings.order, shortest(settings.beta));
  if (settings.name == "theorem4") text += " epsilon=" + shortest(settings.epsilon);
  if (settings.name == "switching") text += " p_switch=" + shortest(settings.p_switch);
  return text;
}

void print_constructions(const std::vector<ConstructionRow>& rows) {
  fmt::print("Constructions beside their estimators, over all sequences of up to 10 tokens and 100 of 200 tokens:\n");
  fmt::print("the largest |dp| of a probability, the largest KL(estimator || model) in nats\n\n");
  fmt::print("{:<13} {:<31} {:>12} {:>12} {:>14} {:>14}\n", "", "", "float64 |dp|", "float64 KL", "float32 |dp|",
             "float32 KL");
  for (const ConstructionRow& row : rows)
    fmt::print("{:<13} {:<31} {:>12.1e} {:>12.1e} {:>14.1e} {:>14.1e}\n", row.settings.name, particulars(row.settings),
               row.exact.probability, row.exact.divergence, row.fast.probability, row.fast.divergence);
}

void print_confusion(const std::vector<ConfusionRow>& rows) {
  fmt::print(
      "\n0 1 0 1 0 1 and 0 0 0 1 1 1, for which add-1 says P(1) = 1/4 and 3/4, read by random models, a_t = 1:\n\n");
  fmt::print("{:<14} {:>5} {:>15} {:>15} {:>10} {:>10}\n", "", "seed", "states differ", "largest number", "P(1)",
             "P(1)");
  for (const ConfusionRow& row : rows)
    fmt::print("{:<14} {:>5} {:>15.1e} {:>15.1e} {:>10.6f} {:>10.6f}\n",
               row.convolution ? "convolution" : "none, w = 1", row.seed, row.found.state_distance,
               row.found.largest_number, row.found.predicted[0], row.found.predicted[1]);
}

void print_limits() {
  fmt::print("\nWhat a linear MambaZero (a_t = 1) misses of a count of order k, out of 1: least squares residual\n\n");
  for (std::int64_t order = 1; order <= highest_no_go_order; ++order)
    fmt::print("k = {}  {:.4f}\n", order, no_go_residual(order));
  fmt::print("\nBits of memory that Theorem 2 asks for, d p >= 2^k (1 - 3 epsilon) log2(1 / epsilon), epsilon = {}\n\n",
             shortest(bound_epsilon));
  for (std::int64_t order = 1; order <= highest_order; ++order)
    fmt::print("k = {:<3} {:>8.1f}\n", order, lower_bound_bits(2, order, bound_epsilon));
}

void print_quantisation(const QuantisationData& data, const std::string& run) {
  fmt::print("\n{}, step {}: gap to the best predictor, nats per token, with the {} numbers of its state rounded\n\n",
             run, data.step, data.state_numbers);
  for (std::size_t i = 0; i < data.bits.size(); ++i)
    fmt::print("p = {:<3} {:>10} bits  {:.5f} +- {:.5f}\n", data.bits[i], data.bits[i] * data.state_numbers,
               data.gap[i], data.standard_error[i]);
}

nlohmann::json to_json(const EstimatorDistance& distance) {
  return {{"probability", distance.probability},
          {"divergence", distance.divergence},
          {"mean_divergence", distance.mean_divergence}};
}

nlohmann::json to_json(const ConstructionRow& row) {
  const ConstructionSettings& settings = row.settings;
  nlohmann::json entry = {{"name", settings.name}, {"states", settings.states},     {"order", settings.order},
                          {"beta", settings.beta}, {"float64", to_json(row.exact)}, {"float32", to_json(row.fast)}};
  if (settings.name == "theorem4") entry["epsilon"] = settings.epsilon;
  if (settings.name == "switching") entry["p_switch"] = settings.p_switch;
  return entry;
}

nlohmann::json to_json(const TheoryReport& report) {
  nlohmann::json document;
  for (const ConstructionRow& row : report.constructions) document["constructions"].push_back(to_json(row));
  for (const ConfusionRow& row : report.confusion)
    document["confusable_pair"].push_back({{"convolution", row.convolution},
                                           {"seed", row.seed},
                                           {"state_distance", row.found.state_distance},
                                           {"largest_number", row.found.largest_number},
                                           {"predicted", row.found.predicted}});
  for (std::int64_t order = 1; order <= highest_no_go_order; ++order)
    document["no_go"].push_back({{"order", order}, {"residual", no_go_residual(order)}});
  for (std::int64_t order = 1; order <= highest_order; ++order)
    document["lower_bound"].push_back(
        {{"order", order}, {"epsilon", bound_epsilon}, {"bits", lower_bound_bits(2, order, bound_epsilon)}});
  if (report.quantisation) document["quantisation"] = *report.quantisation;
  return document;
}

int theory(const TheoryOptions& options) {
  if (options.at && options.run.empty()) throw bad_input("--at chooses a checkpoint of --run, and there is no --run");
  TheoryReport report;
  if (!options.run.empty()) {
    const LoadedRun run = load_run(options.run, options.at);
    report.quantisation = inspect_quantisation(*run.model, run.config, run.step);
  }
  for (const ConstructionSettings& settings : all_constructions())
    report.constructions.push_back(measure_construction(settings));
  report.confusion = measure_confusion();
  if (options.format == "json") {
    fmt::print("{}\n", to_json(report).dump(2));
    return exit_code::success;
  }
  print_constructions(report.constructions);
  print_confusion(report.confusion);
  print_limits();
  if (report.quantisation) print_quantisation(*report.quantisation, options.run);
  return exit_code::success;
}

}  // namespace

Command add_theory_command(CLI::App& program) {
  auto* command = program.add_subcommand("theory", "The papers' theorems measured: constructions, limits, lower bound");
  const auto options = std::make_shared<TheoryOptions>();
  refuse_empty(command->add_option(
                   "--run", options->run,
                   wrapped("Also round the recurrent state of this model to 2 to 16 bits a number: a run folder, or a "
                           "checkpoint file in one")))
      ->type_name("FOLDER");
  command->add_option("--at", options->at, "The step of a checkpoint of --run. Default: the newest.")
      ->type_name("STEP");
  accept_only(command->add_option("--format", options->format, "Default text."), {"text", "json"});
  return {command, [options] { return theory(*options); }};
}

}  // namespace mambarium
