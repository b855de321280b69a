// Presets: named experiments that ship as data files (resources/presets/*.json).
//
// A file is {"id", "title", "description", "experiment": {...}}; `experiment` holds only what differs from the
// defaults.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

struct Preset {
  std::string id, title, description;
  ExperimentConfig config;
};
struct LoadedPresets {
  std::vector<Preset> presets;  // in the order of their file names
  std::vector<Problem> problems;
};
LoadedPresets load_presets(const std::filesystem::path& directory);

}  // namespace mambarium
