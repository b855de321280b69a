// Where streamlines start: points spread evenly over a box, always the same ones.
#pragma once

#include <cstdint>
#include <vector>

#include "core/flow/box.h"

namespace mambarium {

// [count, dimension] points of the additive recurrence with the generalised golden ratio (the root above 1 of
// x^(dimension+1) = x + 1). More seeds begin with the same ones, so lines stay where they are when their number
// changes; no two seeds coincide. Throws std::invalid_argument where count is negative or the box is none.
std::vector<double> even_seeds(const Box& box, std::int64_t count);

}  // namespace mambarium
