// A latent trajectory z_0, z_1, ..., one point per token (z_0 is before the first).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mambarium {

struct Trajectory {
  std::int64_t dimension = 0;  // r
  std::vector<double> z;       // [points, r]

  std::int64_t points() const { return dimension > 0 ? std::ssize(z) / dimension : 0; }
  std::span<const double> point(std::int64_t index) const { return std::span(z).subspan(index * dimension, dimension); }
};

// Throws std::invalid_argument, beginning with `where`: there must be trajectories, all of one dimension, of whole
// points, every number finite.
void check_trajectories(std::span<const Trajectory> trajectories, const char* where);

}  // namespace mambarium
