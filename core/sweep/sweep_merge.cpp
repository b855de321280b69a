#include "core/sweep/sweep_merge.h"

#include <optional>

#include "core/training/durable_file.h"
#include "core/training/training_error.h"

namespace mambarium {

namespace fs = std::filesystem;

void copy_points(std::span<const fs::path> sources, const SweepFolder& folder, std::span<const SweepPoint> points) {
  for (const SweepPoint& point : points) {
    std::string text;
    fs::path first;
    for (const fs::path& source : sources) {
      const fs::path file = SweepFolder::point_file_in(source, point);
      if (!read_point_file(file, point.id)) continue;
      const std::vector<std::byte> bytes = read_whole_file(file);
      const std::string found(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (first.empty()) {
        first = file;
        text = found;
      } else if (found != text) {
        throw TrainingError(
            first.string() + " and " + file.string() + " differ",
            "They were computed by different versions or on different kinds of machine; take one away.");
      }
    }
    if (!first.empty()) folder.write_point(point, text);
  }
}

}  // namespace mambarium
