// The points of a sweep: every combination of positions and seeds, as configurations with ids.
#pragma once

#include <vector>

#include "core/sweep/sweep_file.h"

namespace mambarium {

inline constexpr std::size_t most_sweep_points = 100000;

// Positions and seeds in order; saturates instead of overflowing.
std::size_t count_points(const Sweep& sweep);

// count_points() must be at most most_sweep_points. The configurations are not validated.
std::vector<SweepPoint> sweep_points(const Sweep& sweep);

// "task.order 2, model.d_conv 3, seed 0": where a point stands, for a message.
std::string place_in_words(const Sweep& sweep, const SweepPoint& point);

}  // namespace mambarium
