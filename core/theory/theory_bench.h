// The theory measured: every construction beside its estimator, and what cannot be done. What mambarium-worker theory
// prints.
#pragma once

#include <cstdint>
#include <vector>

#include "core/contract/model_start.h"
#include "core/theory/confusable_pair.h"
#include "core/theory/estimator_distance.h"

namespace mambarium {

// Over all sequences of up to 10 tokens (at most 60,000 of them) and 100 random ones of 200.
struct ConstructionRow {
  ConstructionSettings settings;
  EstimatorDistance exact;  // in float64 on LibTorch operators
  EstimatorDistance fast;   // in float32 on the kernels that train
};
ConstructionRow measure_construction(const ConstructionSettings& settings);

// theorem1 for S = 2, 3, 5, 8; theorem4 for epsilon 0.1, 0.01, 1e-4 and beta 0.5, 1, 2; higher_order for S = 2 and k =
// 1 to 5, and for k = 2 and S = 3, 4, 5; switching for p = 0.01 and 0.2.
std::vector<ConstructionSettings> all_constructions();

// The confusable pair, read by models with random weights and a_t = 1.
struct ConfusionRow {
  bool convolution = false;
  std::uint64_t seed = 0;
  Confusion found;
};
std::vector<ConfusionRow> measure_confusion();

}  // namespace mambarium
