#include "core/theory/estimator_distance.h"

#include <algorithm>
#include <cmath>

#include "core/random/stream.h"
#include "core/torch_precompiled.h"

namespace mambarium {

std::span<const std::int32_t> TokenTable::sequence(std::int64_t index) const {
  return std::span(tokens).subspan(static_cast<std::size_t>(index * length), static_cast<std::size_t>(length));
}

TokenTable every_short_sequence(std::int64_t alphabet) {
  constexpr std::int64_t longest = 10, most = 60'000;
  TokenTable table;
  std::int64_t count = 1;
  for (; table.length < longest && count * alphabet <= most; ++table.length) count *= alphabet;
  for (std::int64_t number = 0; number < count; ++number)
    for (std::int64_t i = 0, rest = number; i < table.length; ++i, rest /= alphabet)
      table.tokens.push_back(static_cast<std::int32_t>(rest % alphabet));
  return table;
}

TokenTable random_long_sequences(std::int64_t alphabet, std::optional<double> p_last) {
  constexpr std::size_t count = 100, length = 200;
  std::vector<double> drawn(2 * count * length);
  Stream(0, "random long sequences").uniform(drawn);
  TokenTable table{length, {}};
  for (std::size_t i = 0; i < count * length; ++i) {
    const bool last = p_last && drawn[2 * i] < *p_last;
    const auto others = static_cast<double>(p_last ? alphabet - 1 : alphabet);
    table.tokens.push_back(
        static_cast<std::int32_t>(last ? static_cast<double>(alphabet - 1) : std::floor(drawn[2 * i + 1] * others)));
  }
  return table;
}

EstimatorDistance distance(SequenceModel& model, Estimator& estimator, const TokenTable& sequences) {
  const torch::NoGradGuard no_gradients;
  const at::Tensor tokens =
      torch::tensor(std::vector<std::int64_t>(sequences.tokens.begin(), sequences.tokens.end()), torch::kInt64)
          .view({sequences.count(), sequences.length});
  const at::Tensor log_p = model.log_probabilities(tokens).to(torch::kFloat64).contiguous();
  const double* found = log_p.data_ptr<double>();
  std::vector<double> expected(static_cast<std::size_t>(estimator.states()));
  EstimatorDistance most;
  for (std::int64_t index = 0; index < sequences.count(); ++index) {
    estimator.reset();
    for (const std::int32_t token : sequences.sequence(index)) {
      estimator.observe(token);
      estimator.predict(expected);
      double divergence = 0;
      for (const double probability : expected) {
        most.probability = std::max(most.probability, std::abs(std::exp(*found) - probability));
        divergence += probability * (std::log(probability) - *found++);
      }
      most.divergence = std::max(most.divergence, divergence);
      most.mean_divergence += divergence;
    }
  }
  most.mean_divergence /= static_cast<double>(sequences.tokens.size());
  return most;
}

}  // namespace mambarium
