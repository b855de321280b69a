// points/<id>.json: what one trained model of a sweep measured at its end. No times, paths or hosts, so that a point
// has the same bytes wherever and whenever it was computed.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/metrics.h"
#include "core/sweep/sweep_file.h"

namespace mambarium {

// `evaluation` is what `mambarium-worker evaluate --json` printed for the point's finished run, `last_row` the last of
// its metrics.csv. Throws std::invalid_argument naming a field that the evaluation lacks.
std::string point_file_text(const SweepPoint& point, const nlohmann::json& evaluation, const MetricsRow& last_row);

struct PointMeasures {
  std::vector<double> values, standard_errors;  // one per sweep_measures(); NaN where there is none
};
// Nothing where there is no such file, or one that is cut, of another point, or lacks a measure: the point is then to
// be computed.
std::optional<PointMeasures> read_point_file(const std::filesystem::path& path, const std::string& id);

}  // namespace mambarium
