// PanelData: all that a panel draws, as values. Live, it comes from runs and a worker's answers; from a recipe, it is
// read back from a file: the same panel draws the same figure either way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/contract/metrics.h"
#include "ui/plots/sweep_data.h"

namespace mambarium {

// One run as a panel sees it. Colours are indices into the Okabe-Ito palette, so that light and dark both work.
struct RunSeries {
  std::string title;   // for the legend
  std::string folder;  // where the numbers come from, "" when not on disk
  std::string parent;  // of a fork: the last component of its parent's folder
  int palette_index = 0;
  int marker_index = 0;  // the second channel: dash and marker
  ExperimentConfig config;
  std::vector<MetricsRow> rows;
  std::vector<std::pair<std::int64_t, double>> train_losses;  // (step, loss) between evaluations; may be empty
};

struct PanelData {
  std::vector<RunSeries> runs;              // visible ones, in the order of the runs list
  std::size_t current = 0;                  // the run that `inspected` is about; runs.size(): it is not among them
  std::optional<nlohmann::json> inspected;  // the answer to Panel::wants(), one of the structs of inspection.h
  std::vector<nlohmann::json> earlier;      // answers to the same question at other steps, if Panel::wantsEarlier()
  // Answers that other shown runs gave while they were current, by folder; only of a panel that compares runs by them.
  std::map<std::string, nlohmann::json> others;
  std::shared_ptr<const SweepData> sweep;  // of the panel of sweeps, which shows no runs
};

nlohmann::json to_recipe_json(const PanelData& data);
PanelData panel_data_from_recipe(const nlohmann::json& document);  // throws std::invalid_argument, one sentence

}  // namespace mambarium
