// How good a decoder is, on windows it has not learnt from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mambarium {

// Multivariate R^2 = 1 - sum_j sum_t (y_tj - yhat_tj)^2 / sum_j sum_t (y_tj - ybar_j)^2 over [rows, columns], ybar_j
// the mean of column j of y: 1 is exact, 0 what the means give, below 0 worse than those. A column with a larger
// variance weighs more. Throws std::invalid_argument: sizes that differ or no multiple of columns, or a y that does not
// change.
double multivariate_r2(std::span<const float> y, std::span<const float> predicted, std::int64_t columns);

// Of predictions of `classes` classes. F1 is 0 / 0 for a class that neither occurs in `truth` nor is predicted, and
// says nothing of the decoder; so such a class is left out of the mean (sessions have eight directions, of which a test
// part may lack some). One that is predicted and never occurs counts as 0: it was wrong each time. Throws
// std::invalid_argument: sizes that differ, none, or numbers outside 0 .. classes-1.
struct ClassScore {
  double accuracy = 0;
  double macro_f1 = 0;                  // mean over classes of 2 hits / (times in truth + times predicted)
  std::vector<std::int64_t> confusion;  // [classes, classes]: truth, predicted
};
ClassScore class_score(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                       std::int64_t classes);

}  // namespace mambarium
