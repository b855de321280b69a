#include "core/motif/motif_loss.h"

#include <numeric>
#include <stdexcept>

#include "core/motif/soft_census.h"

namespace mambarium {

namespace {

using Motifs = std::array<double, motif_count>;

constexpr double least_total_squares = 1e-12;

double total_squares(const Motifs& target) {
  const double mean = std::accumulate(target.begin(), target.end(), 0.0) / static_cast<double>(motif_count);
  double sum = 0;
  for (const double fraction : target) sum += (fraction - mean) * (fraction - mean);
  return sum;
}

}  // namespace

MotifLoss motif_loss(std::span<const double> matrix, std::size_t n, const MotifTarget& target,
                     const MotifLossSettings& settings) {
  check(target);
  const double total = total_squares(target.fractions);
  const bool has_r_squared = total >= least_total_squares, masked = settings.kind == MotifLossKind::sse;
  if (!masked && !has_r_squared)
    throw std::invalid_argument("R^2 has no meaning for " + target.name +
                                ", whose 13 shares are all the same; take the loss sse or another target");
  const SoftCensus census(soft_adjacency(matrix, n, settings.rule), n);
  const Motifs& counts = census.motifs();
  const bool connected = settings.share == CensusShare::connected;
  const double all = connected ? std::accumulate(counts.begin(), counts.end(), 0.0) : triple_count(n);
  MotifLoss loss;
  Motifs slope{};  // dL/dm
  double squares = 0;
  for (std::size_t k = 0; k < motif_count; ++k) {
    loss.fractions[k] = all > 0 ? counts[k] / all : 0;
    const double error = loss.fractions[k] - target.fractions[k];
    squares += error * error;
    if (masked && target.fractions[k] <= 0) continue;
    const double weight = masked ? 1 : 1 / total;
    loss.value += weight * error * error;
    slope[k] = 2 * weight * error;
  }
  if (has_r_squared) loss.r_squared = 1 - squares / total;
  Motifs to_counts{};
  const double common = connected ? std::inner_product(slope.begin(), slope.end(), loss.fractions.begin(), 0.0) : 0;
  for (std::size_t k = 0; k < motif_count && all > 0; ++k) to_counts[k] = (slope[k] - common) / all;
  loss.gradient = soft_adjacency_gradient(matrix, census.gradient(to_counts), n, settings.rule);
  return loss;
}

}  // namespace mambarium
