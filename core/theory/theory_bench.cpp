#include "core/theory/theory_bench.h"

#include <algorithm>

#include "core/models/mamba2.h"
#include "core/theory/constructions.h"

namespace mambarium {

namespace {

EstimatorDistance worse(const EstimatorDistance& a, const EstimatorDistance& b) {
  return {std::max(a.probability, b.probability), std::max(a.divergence, b.divergence),
          std::max(a.mean_divergence, b.mean_divergence)};
}

}  // namespace

ConstructionRow measure_construction(const ConstructionSettings& settings) {
  const auto estimator = estimator_of(settings);
  const auto exact = make_construction(settings, Engine::torch, Precision::float64);
  const auto fast = make_construction(settings, Engine::fused, Precision::float32);
  const std::int64_t alphabet = estimator->states();
  const auto p_last = settings.name == "switching" ? std::optional(0.05) : std::nullopt;
  ConstructionRow row{settings, {}, {}};
  for (const TokenTable& sequences : {every_short_sequence(alphabet), random_long_sequences(alphabet, p_last)}) {
    row.exact = worse(row.exact, distance(*exact, *estimator, sequences));
    row.fast = worse(row.fast, distance(*fast, *estimator, sequences));
  }
  return row;
}

std::vector<ConstructionSettings> all_constructions() {
  std::vector<ConstructionSettings> all;
  for (const std::int64_t states : {2, 3, 5, 8}) all.push_back({.name = "theorem1", .states = states});
  for (const double epsilon : {0.1, 0.01, 1e-4})
    for (const double beta : {0.5, 1.0, 2.0}) all.push_back({.name = "theorem4", .beta = beta, .epsilon = epsilon});
  for (std::int64_t order = 1; order <= 5; ++order) all.push_back({.name = "higher_order", .order = order});
  for (const std::int64_t states : {3, 4, 5}) all.push_back({.name = "higher_order", .states = states, .order = 2});
  for (const double p_switch : {0.01, 0.2}) all.push_back({.name = "switching", .p_switch = p_switch});
  return all;
}

std::vector<ConfusionRow> measure_confusion() {
  std::vector<ConfusionRow> rows;
  for (const bool convolution : {false, true})
    for (const std::uint64_t seed : {0, 1, 2}) {
      Mamba2Options options;
      options.conv_x = options.conv_B = options.conv_C = convolution;
      options.learned_decay = false;
      options.seed = seed;
      Mamba2 model(options, Engine::torch, Precision::float64);
      rows.push_back({convolution, seed, confusion(model)});
    }
  return rows;
}

}  // namespace mambarium
