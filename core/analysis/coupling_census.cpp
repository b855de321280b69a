#include "core/analysis/coupling_census.h"

#include <limits>

#include "core/models/coupled_model.h"
#include "core/models/layer_coupling.h"
#include "core/motif/adjacency.h"
#include "core/motif/census.h"
#include "core/motif/coupling.h"
#include "core/motif/soft_census.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

double wanted(const Census& found, const std::optional<MotifTarget>& target) {
  if (!target) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (std::size_t motif = 0; motif < motif_count; ++motif)
    if (target->fractions[motif] > 0) sum += found[motif];
  return sum;
}

}  // namespace

std::optional<CouplingCensus> coupling_census(SequenceModel& model, const ExperimentConfig& config) {
  const CoupledModel* const coupled = model.coupled();
  if (coupled == nullptr) return std::nullopt;
  const CouplingOptions options = coupling_options(config);
  const std::int64_t channels = coupled->shared_by_channels() ? 1 : coupled->channels();
  const auto count = static_cast<double>(coupled->coupled_layers() * channels);
  CouplingCensus mean;
  for (std::int64_t layer = 0; layer < coupled->coupled_layers(); ++layer)
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const CoupledModel::Parts parts = coupled->coupling(layer, channel);
      const auto rank = static_cast<std::size_t>(options.rank);
      const std::size_t n = parts.P.size() / rank;
      const std::vector<double> matrix =
          coupling_matrix({.n = n, .rank = rank, .p = parts.P, .q = parts.Q, .k = parts.scale});
      const Census hard =
          shares(as_real(hard_census(hard_adjacency(matrix, n, options.motif.rule), n)), n, options.motif.share);
      const Census soft =
          shares(SoftCensus(soft_adjacency(matrix, n, options.motif.rule), n).counts(), n, options.motif.share);
      mean.hard_share += wanted(hard, options.target) / count;
      mean.soft_share += wanted(soft, options.target) / count;
      mean.cycle_hard_share += hard[triad_030c] / count;
    }
  return mean;
}

}  // namespace mambarium
