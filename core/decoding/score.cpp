#include "core/decoding/score.h"

#include <stdexcept>
#include <string>

namespace mambarium {

double multivariate_r2(std::span<const float> y, std::span<const float> predicted, std::int64_t columns) {
  if (columns < 1 || y.empty() || y.size() != predicted.size() || y.size() % static_cast<std::size_t>(columns) != 0)
    throw std::invalid_argument("R^2 of " + std::to_string(predicted.size()) + " predictions of " +
                                std::to_string(y.size()) + " numbers in " + std::to_string(columns) +
                                " columns is not defined; there must be as many, in whole rows");
  const auto width = static_cast<std::size_t>(columns);
  std::vector<double> mean(width);
  const double rows = static_cast<double>(y.size() / width);
  for (std::size_t i = 0; i < y.size(); ++i) mean[i % width] += static_cast<double>(y[i]) / rows;
  double residual = 0, total = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double error = static_cast<double>(y[i]) - static_cast<double>(predicted[i]);
    const double spread = static_cast<double>(y[i]) - mean[i % width];
    residual += error * error;
    total += spread * spread;
  }
  if (!(total > 0)) throw std::invalid_argument("R^2 is not defined where the outputs do not change");
  return 1 - residual / total;
}

ClassScore class_score(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                       std::int64_t classes) {
  if (truth.empty() || truth.size() != predicted.size() || classes < 1)
    throw std::invalid_argument("accuracy needs as many predictions as labels, and at least one; there are " +
                                std::to_string(predicted.size()) + " and " + std::to_string(truth.size()));
  const auto size = static_cast<std::size_t>(classes);
  ClassScore score;
  score.confusion.assign(size * size, 0);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (const std::int32_t found : {truth[i], predicted[i]})
      if (found < 0 || found >= classes)
        throw std::invalid_argument("class " + std::to_string(found) + " is none of 0 to " +
                                    std::to_string(classes - 1));
    ++score.confusion[static_cast<std::size_t>(truth[i]) * size + static_cast<std::size_t>(predicted[i])];
  }
  std::int64_t hits = 0, occurring = 0;
  for (std::size_t c = 0; c < size; ++c) {
    std::int64_t in_truth = 0, in_predictions = 0;
    for (std::size_t other = 0; other < size; ++other) {
      in_truth += score.confusion[c * size + other];
      in_predictions += score.confusion[other * size + c];
    }
    const std::int64_t right = score.confusion[c * size + c];
    hits += right;
    if (in_truth + in_predictions == 0) continue;
    ++occurring;
    score.macro_f1 += 2.0 * static_cast<double>(right) / static_cast<double>(in_truth + in_predictions);
  }
  score.accuracy = static_cast<double>(hits) / static_cast<double>(truth.size());
  score.macro_f1 /= static_cast<double>(occurring);
  return score;
}

}  // namespace mambarium
