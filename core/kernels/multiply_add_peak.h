// What a processor can do at most: fused multiply-adds on numbers that never leave the registers, with the vector
// instructions the kernels use. The bench takes the time and gives everything else as a share of it.
#pragma once

#include <cstdint>

namespace mambarium::kernels {

// Returns how many multiply-adds of single numbers it did; `sum` receives a number that depends on all of them.
std::int64_t multiply_adds(std::int64_t rounds, float& sum);

}  // namespace mambarium::kernels
