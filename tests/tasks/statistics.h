// What the statistical tests of tasks and estimators measure with.
#pragma once

#include <cmath>
#include <vector>

// |observed - expected| within four standard errors. Seeds are fixed: it holds always or never.
inline bool close(double observed, double expected, double standard_deviation, double count) {
  return std::abs(observed - expected) <= 4 * standard_deviation / std::sqrt(count);
}

struct MeanAndError {
  double mean = 0, standard_error = 0;
};

inline MeanAndError mean_and_error(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double count = static_cast<double>(values.size());
  const double mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1) / count)};
}
