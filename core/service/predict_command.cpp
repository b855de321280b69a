#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/analysis/predictions.h"
#include "core/contract/text.h"
#include "core/estimators/known_task.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/experiment_flags.h"
#include "core/service/help_text.h"
#include "core/service/kernel_file.h"
#include "core/service/loaded_run.h"
#include "core/service/token_sequences.h"
#include "core/theory/constructions.h"

namespace mambarium {

namespace {

struct PredictOptions {
  std::string run, estimator, kernel, model, tokens_file;
  std::optional<std::int64_t> at;
  std::optional<double> epsilon;
  std::vector<std::string> tokens;
  std::string format = "csv";
  ExperimentFlags task;
};

struct Predictor {
  std::int64_t states = 0;
  std::function<Tensor(std::span<const std::int32_t>)> predict;
};

Predictor of_estimator(std::unique_ptr<Estimator> made) {
  const std::shared_ptr<Estimator> estimator = std::move(made);
  return {estimator->states(),
          [estimator](std::span<const std::int32_t> tokens) { return predictions(*estimator, tokens); }};
}

Predictor of_run(const PredictOptions& options) {
  const auto run = std::make_shared<LoadedRun>(load_run(options.run, options.at));
  if (is_decoder(run->config))
    throw bad_input(options.run + ": this run decodes windows of a recording and predicts no tokens");
  return {alphabet_of(run->config),
          [run](std::span<const std::int32_t> tokens) { return predictions(*run->model, tokens); }};
}

Predictor of_construction(const PredictOptions& options) {
  const ExperimentConfig config = options.task.config();
  ConstructionSettings settings{.name = options.model,
                                .states = config.integer("task.states"),
                                .order = config.integer("task.order"),
                                .beta = config.real("task.beta"),
                                .p_switch = config.real("task.p_switch")};
  settings.epsilon = options.epsilon.value_or(settings.epsilon);
  try {
    const std::shared_ptr<SequenceModel> model = make_construction(settings, Engine::torch, Precision::float64);
    return {estimator_of(settings)->states(),
            [model](std::span<const std::int32_t> tokens) { return predictions(*model, tokens); }};
  } catch (const std::invalid_argument& error) {
    throw bad_input(std::string("--model ") + error.what());
  }
}

Predictor chosen(const PredictOptions& options) {
  const auto task_flags = options.task.given();
  if (!options.run.empty() || !options.kernel.empty()) {
    const std::string source = options.run.empty() ? "--kernel" : "--run";
    if (!task_flags.empty())
      throw bad_input(source + " says what the task is, so " + task_flags.front() + " cannot be given");
  }
  if (options.at && options.run.empty()) throw bad_input("--at chooses a checkpoint of --run, and there is no --run");
  if (options.epsilon && options.model != "theorem4") throw bad_input("--epsilon is for --model theorem4");
  if (!options.run.empty()) return of_run(options);
  if (!options.model.empty()) return of_construction(options);
  if (!options.kernel.empty()) {
    const MarkovKernel kernel = read_kernel_file(options.kernel);
    return of_estimator(make_oracle(kernel.order, kernel.states, kernel.rows));
  }
  if (options.estimator.empty())
    throw bad_input(
        "who shall predict is missing: give --run FOLDER, --estimator bayes|add_beta|uniform, "
        "--model NAME, or --kernel FILE");
  const ExperimentConfig config = options.task.config();
  const auto alphabet = alphabet_of(config);
  if (options.estimator == "uniform") return of_estimator(make_uniform(alphabet));
  if (options.estimator == "bayes") return of_estimator(make_task(config, Split::test)->best_predictor());
  return of_estimator(make_add_beta(config.integer("task.order"), alphabet, config.real("task.beta")));
}

std::vector<TokenSequence> sequences(const PredictOptions& options, std::int64_t states) {
  std::vector<TokenSequence> all;
  for (const std::string& text : options.tokens) all.push_back(parse_tokens(text, states, "--tokens"));
  if (!all.empty() && options.tokens_file.empty()) return all;
  if (options.tokens_file.empty() || options.tokens_file == "-") {
    for (TokenSequence& sequence : read_token_lines(std::cin, states, "standard input"))
      all.push_back(std::move(sequence));
    return all;
  }
  std::ifstream file(options.tokens_file);
  if (!file) throw bad_input(options.tokens_file + ": the file cannot be read");
  for (TokenSequence& sequence : read_token_lines(file, states, options.tokens_file))
    all.push_back(std::move(sequence));
  return all;
}

// float32 probabilities with the digits that read back to the same float.
std::string digits(float probability) {
  return fmt::format("{}", probability);
}

void print_csv(const TokenSequence& tokens, const Tensor& table, std::size_t number) {
  const auto states = static_cast<std::size_t>(table.shape[1]);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    std::string line = fmt::format("{},{},{}", number, t, tokens[t]);
    for (std::size_t state = 0; state < states; ++state)
      line.append(",").append(digits(table.data[t * states + state]));
    fmt::print("{}\n", line);
  }
}

nlohmann::json as_json(const TokenSequence& tokens, const Tensor& table) {
  const auto states = static_cast<std::size_t>(table.shape[1]);
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    nlohmann::json row = nlohmann::json::array();
    for (std::size_t state = 0; state < states; ++state)
      row.push_back(*real_from(digits(table.data[t * states + state])));
    rows.push_back(std::move(row));
  }
  return {{"tokens", tokens}, {"probabilities", std::move(rows)}};
}

int predict(const PredictOptions& options) {
  const Predictor predictor = chosen(options);
  const auto all = sequences(options, predictor.states);
  if (options.format == "json") {
    nlohmann::json document = nlohmann::json::array();
    for (const TokenSequence& tokens : all) document.push_back(as_json(tokens, predictor.predict(tokens)));
    fmt::print("{}\n", document.dump());
    return exit_code::success;
  }
  std::string header = "sequence,position,token";
  for (std::int64_t state = 0; state < predictor.states; ++state) header.append(",p_").append(std::to_string(state));
  fmt::print("{}\n", header);
  for (std::size_t number = 0; number < all.size(); ++number)
    print_csv(all[number], predictor.predict(all[number]), number);
  return exit_code::success;
}

}  // namespace

Command add_predict_command(CLI::App& program) {
  auto* command = program.add_subcommand("predict", "P(next token) at every position of token sequences");
  const auto options = std::make_shared<PredictOptions>();
  constexpr const char* who = "Who predicts";
  auto* run = command->add_option("--run", options->run, "A trained model: a run folder, or a checkpoint file in one");
  run->type_name("FOLDER")->group(who);
  auto* estimator = command->add_option(
      "--estimator", options->estimator,
      wrapped("For the settings of the task. bayes: the best there is, which for chains is add_beta; add_beta: counts "
              "the whole past, past switches too"));
  accept_only(estimator->group(who)->excludes(run), {"bayes", "add_beta", "uniform"});
  auto* kernel =
      command->add_option("--kernel", options->kernel,
                          wrapped("The oracle that knows the chain: a JSON list of S^k rows of S probabilities"));
  kernel->type_name("FILE")->group(who)->excludes(run)->excludes(estimator);
  accept_only(command
                  ->add_option("--model", options->model,
                               wrapped("Weights that are written down, not trained, for --task.order, --task.states "
                                       "(without the switch token), --task.beta, --task.p_switch"))
                  ->group(who)
                  ->excludes(run)
                  ->excludes(estimator)
                  ->excludes(kernel),
              construction_names());
  command->add_option("--epsilon", options->epsilon, "How far --model theorem4 may be off. Default 0.01.")->group(who);
  command->add_option("--at", options->at, "The step of a checkpoint of --run. Default: the newest.")
      ->type_name("STEP");
  command->add_option("--tokens", options->tokens, "A sequence such as 0,1,1,0; may be given again and again")
      ->type_name("LIST")
      ->expected(1)
      ->take_all();
  command
      ->add_option(
          "--tokens-file", options->tokens_file,
          wrapped("A file with one sequence a line; - is standard input. Default without --tokens: standard input."))
      ->type_name("FILE");
  accept_only(command->add_option("--format", options->format, "Default csv."), {"csv", "json"});
  options->task.add_settings(*command, "task.");
  return {command, [options] { return predict(*options); }};
}

}  // namespace mambarium
