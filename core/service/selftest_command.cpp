#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "core/selftest/selftest.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/help_text.h"
#include "core/service/machine.h"

namespace mambarium {

namespace {

void print(const SelftestCheck& check) {
  const std::string of_torch = check.of_torch == 0 ? "-" : fmt::format("{:.1e}", check.of_torch);  // it has no part
  fmt::print("{:<8} {:<12} {:<32} {:>5} {:>12.1e} {:>10} {:>9.1e}  {}\n", check.instructions, check.path, check.what,
             check.cases, check.difference, of_torch, check.bound(), check.passed() ? "ok" : "FAILED");
  std::fflush(stdout);
}

int selftest(const std::string& device, bool as_json) {
  const Machine machine = this_machine();
  if (device == "cuda") need_cuda();
  if (!as_json) {
    fmt::print("{}, {} threads, {}; LibTorch {}; mambarium {} ({})\n", machine.cpu, machine.cores, machine.simd,
               machine.torch_version, machine.program_version, machine.revision);
    fmt::print("CUDA: {}\n\n", machine.cuda);
    fmt::print("{:<8} {:<12} {:<32} {:>5} {:>12} {:>10} {:>9}\n", "with", "path", "what", "cases", "difference",
               "LibTorch's", "bound");
  }
  const bool on_gpu = device != "cpu" && machine.cuda_usable;
  const auto checks = run_selftest(as_json ? std::function<void(const SelftestCheck&)>() : print, on_gpu);
  const auto failed = std::ranges::count_if(checks, [](const SelftestCheck& check) { return !check.passed(); });
  if (as_json) {
    fmt::print("{}\n", nlohmann::json({{"machine", to_json(machine)}, {"checks", to_json(checks)}}).dump(2));
  } else if (failed == 0) {
    fmt::print("\nAll {} checks agree with float64.\n", checks.size());
  } else {
    fmt::print("\n{} of {} checks FAILED: this program's numbers cannot be trusted on this machine.\n", failed,
               checks.size());
  }
  return failed == 0 ? exit_code::success : exit_code::failure;
}

}  // namespace

Command add_selftest_command(CLI::App& program) {
  struct Flags {
    std::string device = "auto";
    bool as_json = false;
  };
  auto* command = program.add_subcommand("selftest", "Every kernel against float64, on this machine");
  const auto flags = std::make_shared<Flags>();
  auto* device = command->add_option("--device", flags->device,
                                     "cpu: on the CPU alone; cuda: on the GPU as well; auto: on what there is");
  accept_only(device, {"auto", "cpu", "cuda"});
  command->add_flag("--json", flags->as_json, "As JSON, with the machine");
  return {command, [flags] { return selftest(flags->device, flags->as_json); }};
}

}  // namespace mambarium
