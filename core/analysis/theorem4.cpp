#include "core/analysis/theorem4.h"

#include <algorithm>
#include <string>

#include "core/models/model_tensors.h"
#include "core/models/parameter.h"
#include "core/theory/constructions.h"
#include "core/theory/estimator_distance.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

TheoremData::Divergence divergence(SequenceModel& model, Estimator& estimator, const TokenTable& sequences) {
  const EstimatorDistance found = distance(model, estimator, sequences);
  return {sequences.count(), sequences.length, found.mean_divergence, found.divergence};
}

Tensor parameter(SequenceModel& model, const std::string& name) {
  const auto found = std::ranges::find(model.parameters(), name, &Parameter::name);
  return plain_tensor(found->tensor);
}

Tensor taps_of_first_channel(const Tensor& taps) {
  const std::int64_t window = taps.shape[1];
  return {{window}, {taps.data.begin(), taps.data.begin() + window}};
}

}  // namespace

TheoremData inspect_theorem4(double epsilon, double beta) {
  const ConstructionSettings settings{.name = "theorem4", .beta = beta, .epsilon = epsilon};
  const auto model = make_construction(settings, Engine::torch, Precision::float64);
  const auto estimator = estimator_of(settings);
  return {epsilon,
          beta,
          divergence(*model, *estimator, every_short_sequence(2)),
          divergence(*model, *estimator, random_long_sequences(2, std::nullopt)),
          parameter(*model, "embedding.weight"),
          taps_of_first_channel(parameter(*model, "layers.0.conv.x.weight")),
          taps_of_first_channel(parameter(*model, "layers.0.conv.B.weight"))};
}

}  // namespace mambarium
