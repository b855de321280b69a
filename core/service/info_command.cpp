#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "core/contract/experiment_config.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/machine.h"

namespace mambarium {

namespace {

int info(bool as_json) {
  const Machine machine = this_machine();
  if (as_json) {
    fmt::print("{}\n", to_json(machine).dump(2));
    return exit_code::success;
  }
  constexpr double gibibyte = 1u << 30;
  fmt::print("mambarium-worker {} (revision {})\n", machine.program_version, machine.revision);
  fmt::print("LibTorch         {}\n", machine.torch_version);
  fmt::print("Compiler         {}\n", machine.compiler);
  fmt::print("Host             {}\n", machine.host);
  fmt::print("CPU              {}, {} threads, {}\n", machine.cpu, machine.cores, machine.simd);
  if (!machine.blas.empty()) fmt::print("OpenBLAS         kernels for {}\n", machine.blas);
  fmt::print("Memory           {:.1f} GiB\n", machine.memory_bytes / gibibyte);
  fmt::print("Threads of a run {} unless --run.threads says otherwise\n", ExperimentConfig().integer("run.threads"));
  fmt::print("CUDA             {}\n", machine.cuda);
  return exit_code::success;
}

}  // namespace

Command add_info_command(CLI::App& program) {
  auto* command = program.add_subcommand("info", "Versions, processor, threads, CUDA");
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "As JSON");
  return {command, [as_json] { return info(*as_json); }};
}

Command add_settings_command(CLI::App& program) {
  auto* command = program.add_subcommand("settings", "Print the page of all settings, docs/settings.md");
  return {command, [] {
            fmt::print("{}", settings_markdown());
            return exit_code::success;
          }};
}

}  // namespace mambarium
