// RunWriter: everything a live run writes into its folder but the checkpoints. Holds the folder's lock while it lives.
//
// All functions throw TrainingError naming the file; what was in the folder before stays readable then.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/contract/metrics.h"
#include "core/contract/run_folder.h"
#include "core/training/durable_file.h"

namespace mambarium {

class RunWriter {
 public:
  // A new run: the folder must not be there yet, or be empty. Writes experiment.json, manifest.json and the header of
  // metrics.csv, and makes checkpoints/ and figures/.
  RunWriter(const std::filesystem::path& folder, const ExperimentConfig& config, Manifest manifest);

  // A run that is there. The configuration comes from experiment.json; a last line of metrics.csv that a power cut left
  // incomplete is cut off.
  explicit RunWriter(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  const ExperimentConfig& config() const { return config_; }
  const std::vector<MetricsRow>& rows() const { return rows_; }
  Manifest& manifest() { return manifest_; }

  void append(const MetricsRow& row);
  void write_manifest();  // with the time of now

  static std::string new_run_name(
      const ExperimentConfig& config);  // "2026-11-30-mamba2-k1-a3f9", another one each time

 private:
  std::filesystem::path folder_;
  std::unique_ptr<FolderLock> lock_;
  ExperimentConfig config_;
  Manifest manifest_;
  std::vector<MetricsRow> rows_;
  std::unique_ptr<AppendedFile> metrics_;
};

}  // namespace mambarium
