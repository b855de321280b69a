#include "core/service/worker_program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "core/contract/text.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/experiment_flags.h"
#include "core/service/help_text.h"
#include "core/training/training_error.h"
#include "mambarium/version.h"

namespace mambarium {

namespace {

void complain(std::string_view sentences) {
  for (std::string_view sentence : split(sentences, '\n'))
    if (!sentence.empty()) fmt::print(stderr, "mambarium-worker: {}\n", sentence);
}

[[noreturn]] void refuse_missing_command(const CLI::App& program, const std::vector<Command>& commands) {
  std::string names;
  for (const Command& command : commands) names.append(names.empty() ? "" : ", ").append(command.app->get_name());
  const auto extras = program.remaining();
  throw bad_input((extras.empty() ? "a command is missing" : "there is no command " + in_quotes(extras.front())) +
                  "; the commands are " + names);
}

int run(int argc, char** argv) {
  CLI::App program("Trains sequence models on tasks whose best possible answer is known, and looks into them.",
                   "mambarium-worker");
  program.set_version_flag("--version", fmt::format("mambarium-worker {} ({})", version, revision));
  program.require_subcommand(0, 1);
  program.get_formatter()->column_width(help_column);
  const std::vector<Command> commands = {
      add_train_command(program),   add_evaluate_command(program),  add_predict_command(program),
      add_inspect_command(program), add_serve_command(program),     add_bench_command(program),
      add_sweep_command(program),   add_reproduce_command(program), add_selftest_command(program),
      add_theory_command(program),  add_motif_command(program),     add_info_command(program),
      add_settings_command(program)};
  // Left over arguments are refused below, with the nearest flag.
  program.allow_extras();
  for (const Command& command : commands) command.app->allow_extras();
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& fault) {
    if (fault.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return program.exit(fault);
    throw bad_input(sentence_of(fault, program));
  }
  const auto chosen = std::ranges::find_if(commands, [](const Command& command) { return command.app->parsed(); });
  // Also a word before a command: "help train" must not train.
  if (chosen == commands.end() || !program.remaining().empty()) refuse_missing_command(program, commands);
  if (const auto extras = chosen->app->remaining(); !extras.empty())
    refuse_unknown_argument(extras.front(), *chosen->app);
  return chosen->run();
}

}  // namespace

int run_worker_program(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    // What was printed may still lie in a buffer: on a full disk only now it turns out that nobody got it.
    if (code == exit_code::success && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
      complain("the output could not be written: " + std::generic_category().message(errno));
      return exit_code::failure;
    }
    return code;
  } catch (const CommandError& fault) {
    complain(fault.what());
    return fault.code();
  } catch (const TrainingError& fault) {
    complain(std::string(fault.what()) + "\n" + fault.hint());
  } catch (const std::bad_alloc&) {
    complain("there is not enough memory for this; lower the batch, the length or the model's sizes");
  } catch (const std::invalid_argument& fault) {
    complain(fault.what());
    return exit_code::bad_input;
  } catch (const std::exception& fault) {
    complain(split(fault.what(), '\n').front());
  }
  return exit_code::failure;
}

}  // namespace mambarium
