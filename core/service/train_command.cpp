#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "core/contract/run_folder.h"
#include "core/contract/text.h"
#include "core/contract/yardsticks.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/experiment_flags.h"
#include "core/service/help_text.h"
#include "core/service/loaded_run.h"
#include "core/service/machine.h"
#include "core/service/progress.h"
#include "core/service/signal_watcher.h"
#include "core/training/trainer.h"

namespace mambarium {

namespace fs = std::filesystem;

namespace {

struct TrainOptions {
  ExperimentFlags experiment;
  std::string resume, fork, folder;
  Engine engine = Engine::fused;
  bool engine_is_chosen = false;  // and not left to the program
  bool quiet = false;
};

Progress::Style style(const TrainOptions& options) {
  if (options.quiet) return Progress::Style::silent;
  return ::isatty(STDOUT_FILENO) != 0 ? Progress::Style::terminal : Progress::Style::lines;
}

void check_machine(const ExperimentConfig& config, Engine engine) {
  if (const auto problem = unfit_for_this_machine(config, engine)) throw bad_input(to_string(*problem));
}

fs::path folder_for(const TrainOptions& options, const ExperimentConfig& config) {
  return options.folder.empty() ? Trainer::new_folder(config) : fs::path(options.folder);
}

// The run that `flag` names, whose engine another one may not take the place of.
RunFolder known_run(const TrainOptions& options, const std::string& flag, const std::string& folder) {
  std::error_code error;
  if (!fs::exists(fs::path(folder) / "experiment.json", error))
    throw bad_input(flag + ": " + in_quotes(folder) + " is not a run folder: it holds no experiment.json");
  ReadRunFolder read = read_run_folder(folder);
  if (!read.problems.empty()) throw bad_input(read.problems);
  const Engine engine = engine_named(read.run.manifest.engine);
  if (options.engine_is_chosen && options.engine != engine)
    throw bad_input(flag + " goes on with the engine of its run, which is " + name_of(engine) + ", so --engine " +
                    name_of(options.engine) + " cannot be given");
  return std::move(read.run);
}

std::unique_ptr<Trainer> resumed(const TrainOptions& options) {
  if (const auto given = options.experiment.given(); !given.empty())
    throw bad_input("--resume goes on with the settings of its run, so " + given.front() + " cannot be given as well");
  if (!options.folder.empty())
    throw bad_input("--resume goes on in the folder of its run, so --folder cannot be given");
  const RunFolder run = known_run(options, "--resume", options.resume);
  check_machine(run.config, engine_named(run.manifest.engine));
  return Trainer::resume(options.resume);
}

// FOLDER, or FOLDER@STEP; a folder may have an @ in its name.
std::pair<std::string, std::optional<std::int64_t>> folder_and_step(const std::string& text) {
  const std::size_t at = text.rfind('@');
  std::error_code error;
  if (at == std::string::npos || fs::is_directory(text, error)) return {text, std::nullopt};
  const auto step = integer_from(std::string_view(text).substr(at + 1));
  if (!step || *step < 0)
    throw bad_input("--fork: " + in_quotes(text.substr(at + 1)) + " is not a step; it is FOLDER or FOLDER@STEP");
  return {text.substr(0, at), step};
}

std::unique_ptr<Trainer> forked(const TrainOptions& options) {
  if (const auto given = options.experiment.given_sources(); !given.empty())
    throw bad_input("--fork starts from the settings of its run, so " + given.front() + " cannot be given as well");
  const auto [folder, at] = folder_and_step(options.fork);
  const RunFolder parent = known_run(options, "--fork", folder);
  const std::int64_t step = chosen_step(parent, at);
  const ExperimentConfig config = options.experiment.config_over(parent.config);
  if (const auto problems = fork_problems(parent.config, config, step); !problems.empty()) throw bad_input(problems);
  check_machine(config, engine_named(parent.manifest.engine));
  return Trainer::fork(parent, step, config, folder_for(options, config));
}

std::unique_ptr<Trainer> fresh(const TrainOptions& options) {
  const ExperimentConfig config = options.experiment.config();
  check_machine(config, options.engine);
  return Trainer::create(config, {options.engine, folder_for(options, config)});
}

std::unique_ptr<Trainer> trainer_for(const TrainOptions& options) {
  if (!options.resume.empty()) return resumed(options);
  return options.fork.empty() ? fresh(options) : forked(options);
}

// Steps until the end or a signal; true when it got to the end.
bool train_to_the_end(Trainer& trainer, const SignalWatcher& signals, Progress& progress) {
  std::size_t rows_told = 0;
  const auto tell_rows = [&] {
    for (; rows_told < trainer.rows().size(); ++rows_told) progress.evaluated(trainer.rows()[rows_told]);
  };
  progress.started(trainer.step());
  tell_rows();
  while (!trainer.finished() && !signals.signalled()) {
    trainer.advance();
    progress.passed(trainer.step(), trainer.last_train_loss());
    tell_rows();
  }
  return trainer.finished();
}

int train(const TrainOptions& options) {
  const SignalWatcher signals;
  const auto trainer = trainer_for(options);
  const std::string folder = trainer->folder()->string();
  if (!options.quiet)
    fmt::print("{}, {} parameters, run folder {}\n", run_title(trainer->config()), trainer->parameter_count(), folder);
  for (const std::string& note : options.experiment.without_effect_in(trainer->config()))
    fmt::print(stderr, "{}\n", note);
  for (const std::string& note : trainer->notes()) fmt::print(stderr, "{}\n", note);
  std::fflush(stdout);
  bool finished = false;
  try {
    if (!trainer->finished()) trainer->set_status("running", "");
    Progress progress(trainer->config(), style(options), stdout);
    finished = train_to_the_end(*trainer, signals, progress);
    if (!finished) {
      trainer->write_checkpoint();
      trainer->set_status("paused", "interrupted by a signal");
    }
  } catch (const TrainingError& fault) {
    std::error_code error;
    const bool is_there = fs::exists(folder, error);
    throw CommandError(exit_code::failure,
                       std::string(fault.what()) + "\n" + fault.hint() + "\nThe run so far " +
                           (is_there ? "is in " + folder : "is lost: its folder " + folder + " is gone"));
  }
  if (finished) {
    if (options.quiet)
      fmt::print("{}\n", folder);
    else if (is_decoder(trainer->config()))
      fmt::print("Finished after {} steps, {}. The run is in {}\n", trainer->step(),
                 standing_text(trainer->config(), trainer->rows().back()), folder);
    else
      fmt::print("Finished after {} steps, gap to {} {:.5f} {}. The run is in {}\n", trainer->step(),
                 best_predictor_name(trainer->config()), trainer->rows().back().gap_add_beta,
                 loss_unit(trainer->config()), folder);
    return exit_code::success;
  }
  fmt::print(stderr,
             "Interrupted at step {}, a checkpoint is written. Go on with: mambarium-worker train --resume {}\n",
             trainer->step(), folder);
  return exit_code::interrupted;
}

}  // namespace

void add_engine_flag(CLI::App& command, Engine& engine) {
  auto* option = command.add_option_function<std::string>(
      "--engine", [&engine](const std::string& name) { engine = engine_named(name); },
      wrapped("Which implementation computes the model: the hand-written fused kernels, or plain LibTorch operators as "
              "a check. auto, the default, takes the fused ones wherever they cover the model."));
  accept_only(option, {"auto", "fused", "torch"});
}

Command add_train_command(CLI::App& program) {
  auto* command = program.add_subcommand("train", "Train a model; the run becomes a folder");
  const auto options = std::make_shared<TrainOptions>();
  options->experiment.add_sources(*command);
  auto* const resume =
      refuse_empty(command->add_option("--resume", options->resume, "Go on with a run from its newest checkpoint"));
  resume->type_name("FOLDER");
  refuse_empty(command->add_option(
                   "--fork", options->fork,
                   wrapped("A new run from a checkpoint of another (the newest, or of STEP), with its settings but for "
                           "those given here: parts, how it is trained, where it is computed")))
      ->type_name("FOLDER[@STEP]")
      ->excludes(resume);
  refuse_empty(command->add_option("--folder", options->folder, "The run's folder. Default: a new name in run.out."))
      ->type_name("FOLDER");
  add_engine_flag(*command, options->engine);
  command->add_flag("--quiet", options->quiet, "Print nothing but the run folder");
  options->experiment.add_settings(*command);
  const auto* engine = command->get_option("--engine");
  return {command, [options, engine] {
            options->engine_is_chosen = engine->count() > 0 && engine->as<std::string>() != "auto";
            return train(*options);
          }};
}

}  // namespace mambarium
