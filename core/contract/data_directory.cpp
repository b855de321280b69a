#include "core/contract/data_directory.h"

namespace mambarium {

std::filesystem::path data_directory() {
  const auto program = std::filesystem::canonical("/proc/self/exe");
  return program.parent_path().parent_path() / "share" / "mambarium";
}

}  // namespace mambarium
