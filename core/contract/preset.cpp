#include "core/contract/preset.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/contract/json_fields.h"
#include "core/contract/text.h"

namespace mambarium {

namespace fs = std::filesystem;

namespace {

std::optional<Preset> read_preset(const fs::path& path, std::vector<Problem>& problems) {
  const JsonFile file = read_json_file(path);
  if (file.problem) {
    problems.push_back(*file.problem);
    return std::nullopt;
  }
  try {
    const JsonFields fields(file.document, "preset");
    Preset preset{fields.text("id"), fields.text("title"), fields.text("description"), {}};
    ParsedConfig parsed = config_from_json(fields.object("experiment"));
    for (const Problem& problem : parsed.problems)
      problems.push_back({path.string() + ": " + problem.where, problem.message});
    if (!parsed.problems.empty()) return std::nullopt;
    preset.config = std::move(parsed.config);
    return preset;
  } catch (const std::invalid_argument& fault) {
    problems.push_back({path.string(), fault.what()});
    return std::nullopt;
  }
}

}  // namespace

LoadedPresets load_presets(const fs::path& directory) {
  LoadedPresets loaded;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".json") files.push_back(entry->path());
  if (error) loaded.problems.push_back({directory.string(), "the folder of presets cannot be read"});
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    auto preset = read_preset(file, loaded.problems);
    if (!preset) continue;
    if (std::ranges::count(loaded.presets, preset->id, &Preset::id) > 0)
      loaded.problems.push_back({file.string(), "another preset already has the id " + in_quotes(preset->id)});
    else
      loaded.presets.push_back(*std::move(preset));
  }
  return loaded;
}

}  // namespace mambarium
