#include "core/flow/trajectory.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace mambarium {

void check_trajectories(std::span<const Trajectory> trajectories, const char* where) {
  const auto refuse = [&](const std::string& what) { throw std::invalid_argument(std::string(where) + ": " + what); };
  if (trajectories.empty()) refuse("there is no trajectory; one or more are needed");
  const std::int64_t dimension = trajectories.front().dimension;
  if (dimension < 1) refuse("trajectories have 1 dimension or more, not " + std::to_string(dimension));
  for (std::int64_t index = 0; index < std::ssize(trajectories); ++index) {
    const Trajectory& trajectory = trajectories[index];
    const std::string name = "trajectory " + std::to_string(index);
    if (trajectory.dimension != dimension)
      refuse(name + " has " + std::to_string(trajectory.dimension) + " dimensions, but the first has " +
             std::to_string(dimension));
    if (std::ssize(trajectory.z) % dimension != 0)
      refuse(name + " holds " + std::to_string(trajectory.z.size()) + " numbers, which are not whole points of " +
             std::to_string(dimension) + " dimensions");
    if (!std::ranges::all_of(trajectory.z, [](double value) { return std::isfinite(value); }))
      refuse(name + " holds a number that is not finite");
  }
}

}  // namespace mambarium
