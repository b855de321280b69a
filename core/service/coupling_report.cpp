#include "core/service/coupling_report.h"

#include <fmt/format.h>

#include <cmath>

#include "core/analysis/coupling_census.h"
#include "core/contract/json_fields.h"

namespace mambarium {

namespace {

// Two states have a coupling and no triads.
std::optional<CouplingCensus> census_of(const LoadedRun& run) {
  constexpr std::int64_t triad_nodes = 3;
  if (run.config.integer("model.d_state") < triad_nodes) return std::nullopt;
  return coupling_census(*run.model, run.config);
}

}  // namespace

void add_coupling(nlohmann::json& document, const LoadedRun& run) {
  const auto census = census_of(run);
  if (!census) return;
  document["coupling"] = {{"hard_share", number_or_null(census->hard_share)},
                          {"soft_share", number_or_null(census->soft_share)},
                          {"cycle_hard_share", census->cycle_hard_share}};
}

void print_coupling(const LoadedRun& run) {
  const auto census = census_of(run);
  if (!census) return;
  fmt::print("\ntriads of the coupling, shares with hard edges\n\n");
  if (!std::isnan(census->hard_share))
    fmt::print("{:<24} {:.5f} (soft {:.5f})\n", run.config.text("model.motif"), census->hard_share, census->soft_share);
  if (run.config.text("model.motif") != "030C") fmt::print("{:<24} {:.5f}\n", "030C", census->cycle_hard_share);
}

}  // namespace mambarium
