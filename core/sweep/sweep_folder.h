// A sweep's folder, which several processes on several machines may fill at once without locks: every file in it is
// written under a name of its own and renamed, whole, to its place, and whoever writes it writes the same bytes.
//
//   plan.json   all points      runs/<point>/   run folders      points/<point>.json   measures
//   results.json, results.csv   when all are there
//
// Writing throws TrainingError naming the file.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/partial_sweep.h"
#include "core/sweep/sweep_file.h"

namespace mambarium {

class SweepFolder {
 public:
  explicit SweepFolder(std::filesystem::path path);  // makes it where it is missing

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path run(const SweepPoint& point) const { return path_ / "runs" / point.id; }
  std::filesystem::path point_file(const SweepPoint& point) const { return point_file_in(path_, point); }
  static std::filesystem::path point_file_in(const std::filesystem::path& folder, const SweepPoint& point);

  std::optional<PointMeasures> measures(const SweepPoint& point) const;
  // plan.json: what the results will be about (core/contract/partial_sweep.h).
  void write_plan(const Sweep& sweep, std::span<const SweepPoint> points) const;
  void write_point(const SweepPoint& point, std::string_view text) const;
  // Writes results.json and results.csv, here or into another folder, when the measures of all points are there. What
  // is missing comes back.
  std::vector<const SweepPoint*> write_results(const Sweep& sweep, std::span<const SweepPoint> points) const;
  std::vector<const SweepPoint*> write_results(const Sweep& sweep, std::span<const SweepPoint> points,
                                               const std::filesystem::path& folder) const;

 private:
  std::filesystem::path path_;
};

}  // namespace mambarium
