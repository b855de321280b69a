// points/<id>.json: what one trained model of a sweep measured at its end. No times, paths or hosts, so that a point
// has the same bytes wherever and whenever it was computed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/contract/metrics.h"
#include "core/contract/run_folder.h"
#include "core/sweep/sweep_file.h"

namespace mambarium {

// `evaluation` is what `mambarium-worker evaluate --json` printed for the point's finished run, `last_row` the last of
// its metrics.csv, `warm_up` its manifest's. Throws std::invalid_argument naming a field that the evaluation lacks.
std::string point_file_text(const SweepPoint& point, const nlohmann::json& evaluation, const MetricsRow& last_row,
                            const std::optional<WarmUpRecord>& warm_up = std::nullopt);

}  // namespace mambarium
