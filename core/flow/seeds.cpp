#include "core/flow/seeds.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace mambarium {

std::vector<double> even_seeds(const Box& box, std::int64_t count) {
  const std::int64_t dimension = box.dimension();
  check_box(box, dimension, "seeds");
  if (dimension < 1 || count < 0)
    throw std::invalid_argument("seeds: " + std::to_string(count) + " seeds in " + std::to_string(dimension) +
                                " dimensions; there must be 0 or more seeds and 1 or more dimensions");
  double ratio = 1.5;
  constexpr int iterations = 60;  // a contraction by 1/3 or better
  for (int iteration = 0; iteration < iterations; ++iteration)
    ratio = std::pow(1 + ratio, 1 / static_cast<double>(dimension + 1));
  std::vector<double> seeds;
  seeds.reserve(count * dimension);
  for (std::int64_t index = 0; index < count; ++index) {
    double step = 1;
    for (std::int64_t axis = 0; axis < dimension; ++axis) {
      step /= ratio;
      const double along = 0.5 + static_cast<double>(index) * step;
      seeds.push_back(box.lower[axis] + box.extent(axis) * (along - std::floor(along)));
    }
  }
  return seeds;
}

}  // namespace mambarium
