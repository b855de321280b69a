// Measured: the mean of independent values, and how sure it is.
#pragma once

#include <span>

namespace mambarium {

struct Measured {
  double mean = 0, standard_error = 0;
};
Measured measured(std::span<const double> values);  // of independent values; the error of one is NaN

}  // namespace mambarium
