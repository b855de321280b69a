#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "core/analysis/analysis.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/help_text.h"
#include "core/service/loaded_run.h"

namespace mambarium {

namespace {

struct InspectOptions {
  std::string run;
  InspectRequest request;
};

int inspect_run(const InspectOptions& options) {
  const LoadedRun run = load_run(options.run, options.request.at);
  const nlohmann::json data = inspect(*run.model, run.config, options.request, run.step);
  fmt::print("{}\n", readable_json(data).dump());
  return exit_code::success;
}

}  // namespace

Command add_inspect_command(CLI::App& program) {
  auto* command = program.add_subcommand("inspect", "Print what a panel would be sent about a model, as JSON");
  const auto options = std::make_shared<InspectOptions>();
  command->add_option("run", options->run, "A run folder or a checkpoint file in one")->type_name("FOLDER")->required();
  const auto kinds = inspection_kinds();
  accept_only(command->add_option("--what", options->request.what, "What it is asked")->required(),
              {kinds.begin(), kinds.end()});
  command->add_option("--probe", options->request.probe, "Which probe sequence, 0 to 7. Default 0.")->type_name("N");
  command->add_option("--layer", options->request.layer, "Whose state or inner products. Default 0.")->type_name("N");
  command->add_option("--head", options->request.head, "Whose state. Default 0.")->type_name("N");
  command->add_option("--epsilon", options->request.epsilon, "Of theorem4. Default 0.01.");
  command->add_option("--beta", options->request.beta, "Of theorem4. Default 1.");
  command->add_option("--at", options->request.at, "The step of a checkpoint. Default: the newest.")->type_name("STEP");
  return {command, [options] { return inspect_run(*options); }};
}

}  // namespace mambarium
