#include "core/sweep/sweep_folder.h"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "core/contract/json_fields.h"
#include "core/sweep/sweep_summary.h"
#include "core/training/durable_file.h"
#include "core/training/training_error.h"

namespace mambarium {

namespace fs = std::filesystem;

namespace {

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw TrainingError("cannot make the folder " + folder.string() + ": " + error.message(),
                        "Choose a place you may write to (--out).");
}

void write_shared_file(const fs::path& path, std::string_view text) {
  std::random_device random;
  const fs::path own = fmt::format("{}.{:08x}{:08x}", path.string(), random(), random());
  write_whole_file(own, text);
  std::error_code error;
  fs::rename(own, path, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(own, ignored);
  throw TrainingError("cannot write " + path.string() + ": " + error.message(),
                      "Check the path and the disk it is on.");
}

}  // namespace

SweepFolder::SweepFolder(fs::path path) : path_(std::move(path)) {
  make_folder(path_ / "runs");
  make_folder(path_ / "points");
}

fs::path SweepFolder::point_file_in(const fs::path& folder, const SweepPoint& point) {
  return folder / "points" / (point.id + ".json");
}

std::optional<PointMeasures> SweepFolder::measures(const SweepPoint& point) const {
  return read_point_file(point_file(point), point.id);
}

void SweepFolder::write_plan(const Sweep& sweep, std::span<const SweepPoint> points) const {
  const nlohmann::json plan = unmeasured(sweep, points);
  const fs::path path = path_ / "plan.json";
  if (read_json_file(path).document == plan) return;
  // Results of another plan would be taken for its own.
  std::error_code ignored;
  for (const char* const name : {"results.csv", "results.json"}) fs::remove(path_ / name, ignored);
  write_shared_file(path, plan.dump(1) + "\n");
}

void SweepFolder::write_point(const SweepPoint& point, std::string_view text) const {
  write_shared_file(point_file(point), text);
}

std::vector<const SweepPoint*> SweepFolder::write_results(const Sweep& sweep,
                                                          std::span<const SweepPoint> points) const {
  return write_results(sweep, points, path_);
}

std::vector<const SweepPoint*> SweepFolder::write_results(const Sweep& sweep, std::span<const SweepPoint> points,
                                                          const fs::path& folder) const {
  std::vector<const SweepPoint*> missing;
  std::vector<PointMeasures> all;
  for (const SweepPoint& point : points) {
    if (auto of_point = measures(point))
      all.push_back(*std::move(of_point));
    else
      missing.push_back(&point);
  }
  if (!missing.empty()) return missing;
  const SweepResult result = sweep_result(sweep, points, all);
  make_folder(folder);
  write_shared_file(folder / "results.csv", results_csv(result));
  write_shared_file(folder / "results.json", nlohmann::json(result).dump(1) + "\n");
  return missing;
}

}  // namespace mambarium
