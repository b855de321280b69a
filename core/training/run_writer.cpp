#include "core/training/run_writer.h"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/training/training_error.h"

namespace mambarium {
namespace fs = std::filesystem;
namespace {

constexpr const char* experiment_file = "experiment.json";
constexpr const char* manifest_file = "manifest.json";
constexpr const char* metrics_file = "metrics.csv";
constexpr int indent = 2;

std::string time_text(const char* format, std::tm (*to_fields)(std::time_t)) {
  const std::tm fields = to_fields(std::time(nullptr));
  char buffer[40];
  return {buffer, std::strftime(buffer, sizeof buffer, format, &fields)};
}

std::tm utc(std::time_t time) {
  std::tm fields{};
  ::gmtime_r(&time, &fields);
  return fields;
}

std::tm local(std::time_t time) {
  std::tm fields{};
  ::localtime_r(&time, &fields);
  return fields;
}

std::string now_text() {
  return time_text("%Y-%m-%dT%H:%M:%SZ", utc);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw TrainingError("cannot make the folder " + folder.string() + ": " + error.message(),
                        "Choose a place you may write to (run.out).");
  }
}

}  // namespace

RunWriter::RunWriter(const fs::path& folder, const ExperimentConfig& config, Manifest manifest)
    : folder_(folder), config_(config), manifest_(std::move(manifest)) {
  make_folder(folder);
  std::error_code error;
  if (!fs::is_empty(folder, error) || error) {
    throw TrainingError(folder.string() + " is not empty",
                        "Choose another folder, or go on with the run that is there.");
  }
  lock_ = std::make_unique<FolderLock>(folder);
  make_folder(folder / "checkpoints");
  make_folder(folder / "figures");
  write_whole_file(folder / experiment_file, to_json(config).dump(indent) + "\n");
  metrics_ = std::make_unique<AppendedFile>(folder / metrics_file, 0);
  metrics_->append(metrics_header(metrics_form(config_)) + "\n");
  manifest_.started = now_text();
  write_manifest();
}

RunWriter::RunWriter(const fs::path& folder) : folder_(folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw TrainingError("there is no run folder " + folder.string(), "Check the path.");
  }
  lock_ = std::make_unique<FolderLock>(folder);
  ParsedConfig parsed = config_from_file((folder / experiment_file).string());
  if (!parsed.problems.empty()) {
    throw TrainingError(to_string(parsed.problems.front()), "Repair the file, or start a new run with these settings.");
  }
  config_ = std::move(parsed.config);
  // The manifest only describes the run, so a broken one is made anew.
  manifest_ = read_run_folder(folder).run.manifest;
  make_folder(folder / "checkpoints");

  const fs::path metrics = folder / metrics_file;
  std::string text;
  if (fs::exists(metrics, error)) {
    const std::vector<std::byte> content = read_whole_file(metrics);
    text.assign(reinterpret_cast<const char*>(content.data()), content.size());
  }
  ParsedMetrics known = metrics_from_csv(text, metrics.string());
  if (!known.problems.empty()) {
    throw TrainingError(to_string(known.problems.front()), "Repair or remove the line, then go on with the run.");
  }
  rows_ = std::move(known.rows);
  metrics_ = std::make_unique<AppendedFile>(metrics, known.complete_bytes);
  if (known.complete_bytes == 0) metrics_->append(metrics_header(metrics_form(config_)) + "\n");
}

void RunWriter::append(const MetricsRow& row) {
  metrics_->append(to_csv_line(row, metrics_form(config_)) + "\n");
  rows_.push_back(row);
}

void RunWriter::write_manifest() {
  manifest_.updated = now_text();
  write_whole_file(folder_ / manifest_file, nlohmann::json(manifest_).dump(indent) + "\n");
}

std::string RunWriter::new_run_name(const ExperimentConfig& config) {
  const auto ticks = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string distinct = share_string(config) + std::to_string(ticks) + "/" + std::to_string(::getpid());
  std::uint64_t hash = checksum(std::as_bytes(std::span(distinct)));
  hash ^= hash >> 32;
  hash ^= hash >> 16;
  constexpr const char* digits = "0123456789abcdef";
  std::string suffix;
  for (int shift = 12; shift >= 0; shift -= 4) suffix += digits[(hash >> shift) & 15];
  const std::string task =
      config.applies("task.order") ? "k" + std::to_string(config.integer("task.order")) : config.text("task.kind");
  return time_text("%Y-%m-%d", local) + "-" + config.text("model.kind") + "-" + task + "-" + suffix;
}

}  // namespace mambarium
