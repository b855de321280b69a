// PartialSweep: a sweep as far as it is computed. plan.json says which points there will be, points/<id>.json what one
// of them measured.
//
// plan.json is a results.json in which nothing is measured yet (every value null); it is written before the first point
// is trained, and has the same bytes whoever writes it. Reading never writes and throws nothing; it may be repeated
// while points come in.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/sweep_result.h"

namespace mambarium {

struct PointMeasures {
  std::vector<double> values, standard_errors;  // one per sweep_measures(); NaN where there is none
};
// Nothing where there is no such file, or one that is cut, of another point, or lacks a measure: the point is then to
// be computed.
std::optional<PointMeasures> read_point_file(const std::filesystem::path& path, const std::string& id);

struct PartialSweep {
  SweepResult result;             // values of points that are still to come are NaN, and no part of a cell
  std::size_t done = 0;           // rows that are there
  std::vector<Problem> problems;  // empty: all of it was read
  bool finished() const { return done == result.rows.size(); }
};

// `path`: results.json, or a sweep's folder: its results when they are written, else its plan and the points so far.
PartialSweep read_partial_sweep(const std::filesystem::path& path);

}  // namespace mambarium
