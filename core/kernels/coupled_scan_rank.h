// The one thing about a coupled scan that can be wrong before any number is looked at.
#pragma once

#include <stdexcept>
#include <string>

#include "core/kernels/coupled_scan.h"

namespace mambarium::kernels {

inline void expect_coupling_rank(const CoupledScanShape& shape) {
  if (shape.rank < 1 || shape.rank > largest_coupling_rank) {
    throw std::invalid_argument("coupled_scan: the rank is " + std::to_string(shape.rank) + ", expected 1 to " +
                                std::to_string(largest_coupling_rank));
  }
}

}  // namespace mambarium::kernels
