#include "core/service/loaded_run.h"

#include <algorithm>

#include "core/service/command_error.h"
#include "core/service/machine.h"
#include "core/training/runtime.h"
#include "core/training/trainer.h"

namespace mambarium {

namespace fs = std::filesystem;

namespace {

// The step of runs/a/checkpoints/step-000400.safetensors, when the path names such a file of the run.
std::optional<std::int64_t> step_of_file(const fs::path& file, const RunFolder& run) {
  for (const std::int64_t step : run.checkpoints)
    if (checkpoint_path(run.path, step).filename() == file.filename()) return step;
  return std::nullopt;
}

}  // namespace

std::int64_t chosen_step(const RunFolder& run, std::optional<std::int64_t> at) {
  if (run.checkpoints.empty()) throw bad_input(run.path.string() + ": this run has no checkpoint");
  if (!at) return run.checkpoints.back();
  if (std::ranges::binary_search(run.checkpoints, *at)) return *at;
  const MissingCheckpoint missing = missing_checkpoint(*at, run.checkpoints);
  throw bad_input(run.path.string() + ": " + missing.message + "; " + missing.hint);
}

MissingCheckpoint missing_checkpoint(std::int64_t step, const std::vector<std::int64_t>& present) {
  constexpr std::ptrdiff_t each_side = 3;
  const auto above = std::ranges::lower_bound(present, step);
  const auto first = above - std::min(each_side, above - present.begin());
  const auto last = above + std::min(each_side, present.end() - above);
  std::string steps;
  for (auto near = first; near != last; ++near) steps += (steps.empty() ? "" : ", ") + std::to_string(*near);
  std::string hint = "this run has none yet";
  if (!present.empty()) {
    const bool all = last - first == std::ssize(present);
    hint = "choose one of " +
           (all ? steps
                : "the " + std::to_string(present.size()) + " from step " + std::to_string(present.front()) + " to " +
                      std::to_string(present.back()) + ", such as " + steps);
  }
  return {"there is no checkpoint of step " + std::to_string(step), hint};
}

LoadedRun load_run(const fs::path& path, std::optional<std::int64_t> at, Engine engine) {
  std::error_code error;
  const bool is_file = fs::is_regular_file(path, error);
  if (is_file && at) throw bad_input("--at chooses a checkpoint of a run folder, and " + path.string() + " is a file");
  if (!is_file && !fs::is_directory(path, error))
    throw bad_input(path.string() + ": there is no such run folder or checkpoint");
  const fs::path folder = is_file ? fs::absolute(path).parent_path().parent_path() : path;
  if (!fs::exists(folder / "experiment.json", error))
    throw bad_input(path.string() + " is " +
                    (is_file ? "not a checkpoint in a run folder" : "not a run folder: it holds no experiment.json"));
  const ReadRunFolder read = read_run_folder(folder);
  if (!read.problems.empty()) throw bad_input(read.problems);
  if (is_file && !(at = step_of_file(path, read.run)))
    throw bad_input(path.string() + ": this is not a checkpoint of the run in " + folder.string());
  const std::int64_t step = chosen_step(read.run, at);
  LoadedRun run{checkpoint_path(read.run.path, step), read.run.config, step, nullptr};
  if (const auto problem = too_large_for_this_machine(run.config)) throw bad_input(to_string(*problem));
  configure_runtime(torch_threads(engine_of(run.config, engine), run.config.integer("run.threads")));
  run.model = make_model(run.config, engine);
  try {
    load_checkpoint(*run.model, run.checkpoint);
  } catch (const TrainingError& fault) {
    const bool is_of_files = is_decoder(run.config) && run.config.text("task.recording") != "simulated";
    throw bad_input(fault.what() +
                    std::string(is_of_files ? "; has the recording in task.files changed since the run?" : ""));
  }
  return run;
}

}  // namespace mambarium
