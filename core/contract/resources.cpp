#include "core/contract/resources.h"

#include <cstdlib>
#include <system_error>

namespace mambarium {

namespace fs = std::filesystem;

fs::path resource_directory() {
  std::error_code error;
  if (const char* chosen = std::getenv("MAMBARIUM_RESOURCES"); chosen != nullptr && fs::is_directory(chosen, error))
    return chosen;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share" / "mambarium";
  if (!program.empty() && fs::is_directory(installed, error)) return installed;
  if (fs::is_directory(MAMBARIUM_SOURCE_RESOURCES, error)) return MAMBARIUM_SOURCE_RESOURCES;
  return {};
}

fs::path preset_directory() {
  return resource_directory() / "presets";
}

}  // namespace mambarium
