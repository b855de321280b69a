// Gathers points that were computed in several folders.
#pragma once

#include <filesystem>
#include <span>

#include "core/sweep/sweep_folder.h"

namespace mambarium {

// Copies the file of every point that is in one of `sources` into `folder`, byte for byte. Throws TrainingError where
// two of them have different bytes for one point: equal experiments give equal numbers, so one of them is of another
// version.
void copy_points(std::span<const std::filesystem::path> sources, const SweepFolder& folder,
                 std::span<const SweepPoint> points);

}  // namespace mambarium
