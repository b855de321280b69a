// Reading a run folder: the desktop, the command line and a spreadsheet read the same files.
//
//   experiment.json  manifest.json  metrics.csv  checkpoints/step-000400.safetensors (+ .state)  figures/
//
// Reading never writes. A folder that lacks a file, or holds a broken one, gives one Problem per fault with the path.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/contract/fork.h"
#include "core/contract/metrics.h"

namespace mambarium {

// How the couplings of a run were warmed up to their motif before its first step: one of every layer, or one of every
// channel.
struct WarmUpRecord {
  double steps = 0;    // their mean
  double reached = 0;  // the share of them that got to a tenth of their first loss
  bool operator==(const WarmUpRecord&) const = default;
};

struct Manifest {
  std::string program_version, git_revision, torch_version, compiler, host, device;
  std::string engine;  // which implementation computed the model: "fused" or "torch"
  std::int64_t threads = 1;
  std::int64_t seed = 0;
  std::int64_t parameter_count = 0;
  std::string started, updated;  // ISO 8601, UTC
  std::string status;            // "created", "running", "paused", "finished", "failed"; read_run_folder also says
                                 // "interrupted": the file says it runs, and no process holds the folder
  std::string exit_reason;       // "" while it runs; else one sentence
  std::int64_t step = 0;         // at the last update
  std::optional<Fork> fork =
      std::nullopt;  // "parent", "parent_title", "parent_step", "changes"; a run from step 0 has none
  std::optional<WarmUpRecord> warm_up = std::nullopt;  // of a run from step 0 that asks for a motif
};
void to_json(nlohmann::json&, const Manifest&);
void from_json(const nlohmann::json&, Manifest&);  // missing fields keep their defaults

// The line of a run in a list.
struct RunSummary {
  std::string folder, name;  // name: the folder's last component
  std::string title;         // run_title()
  std::string status;
  std::int64_t step = 0, steps = 0;
  double gap_add_beta = 0;  // of the last row; NaN when there is none
};
void to_json(nlohmann::json&, const RunSummary&);
void from_json(const nlohmann::json&, RunSummary&);
// "mamba2 . order 1 . w=2 . seed 0": from the configuration; a fork is called by what it changed.
std::string run_title(const ExperimentConfig& config, const std::optional<Fork>& fork = std::nullopt);

struct RunFolder {
  std::filesystem::path path;
  ExperimentConfig config;
  Manifest manifest;
  std::vector<MetricsRow> rows;
  std::vector<std::int64_t> checkpoints;  // ascending steps for which both files exist
};
struct ReadRunFolder {
  RunFolder run;
  std::vector<Problem> problems;  // empty: all of it was read
};
ReadRunFolder read_run_folder(const std::filesystem::path& path);
bool is_held_by_a_process(const std::filesystem::path& run);  // by its lock, which ends with the process
std::vector<RunSummary> list_run_folders(const std::filesystem::path& root);  // newest first; broken ones are left out
std::filesystem::path checkpoint_path(const std::filesystem::path& run,
                                      std::int64_t step);                               // .../step-000400.safetensors
std::filesystem::path state_path(const std::filesystem::path& run, std::int64_t step);  // .../step-000400.state

}  // namespace mambarium
