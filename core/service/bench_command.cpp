#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/bench/bench.h"
#include "core/bench/bench_table.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/experiment_flags.h"
#include "core/service/help_text.h"
#include "core/service/machine.h"

namespace mambarium {

namespace {

void print(const Machine& machine, const std::string& markdown) {
  fmt::print("{}, {} threads, {}; LibTorch {}; {}; mambarium {} ({})\n\n{}", machine.cpu, machine.cores, machine.simd,
             machine.torch_version, machine.compiler, machine.program_version, machine.revision, markdown);
}

template <class Report>
int print(const Report& report, bool as_json) {
  const Machine machine = this_machine();
  if (as_json) {
    fmt::print("{}\n", nlohmann::json({{"machine", to_json(machine)}, {"bench", to_json(report)}}).dump(2));
  } else {
    print(machine, to_markdown(report));
  }
  return exit_code::success;
}

}  // namespace

Command add_bench_command(CLI::App& program) {
  struct Flags {
    ExperimentFlags experiment;
    BenchOptions options;
    std::string device = "cpu";
    bool as_json = false;
  };
  auto* command =
      program.add_subcommand("bench", "Tokens a second on this machine, beside LibTorch operators in the same run");
  const auto flags = std::make_shared<Flags>();
  command->add_option("--rounds", flags->options.rounds, "Rounds; the median is shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--seconds", flags->options.seconds, "Seconds per subject and round")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  auto* device = command->add_option("--device", flags->device, "cuda measures the GPU as well")->capture_default_str();
  accept_only(device, {"cpu", "cuda"});
  command->add_flag("--json", flags->as_json, "As JSON, with the machine");
  flags->experiment.add_sources(*command);
  flags->experiment.add_settings(*command);
  return {
      command, [flags] {
        if (std::isnan(flags->options.seconds)) throw bad_input("--seconds: nan is not a number of seconds");
        flags->options.on_gpu = flags->device == "cuda";
        if (flags->options.on_gpu) need_cuda();
        if (flags->experiment.given().empty()) {
          constexpr double subjects = 90;
          const double minutes = subjects * static_cast<double>(flags->options.rounds) * flags->options.seconds / 60;
          fmt::print(stderr, "On an idle machine the tables take about {:.0f} minutes.\n", std::ceil(minutes + 0.5));
          return print(run_bench_table(flags->options), flags->as_json);
        }
        const ExperimentConfig config = flags->experiment.config();
        if (const auto problem = unfit_for_this_machine(config, Engine::fused)) throw bad_input(to_string(*problem));
        flags->options.on_gpu |= config.text("run.device") == "cuda";
        return print(run_bench(config, flags->options), flags->as_json);
      }};
}

}  // namespace mambarium
