// How far the motifs of a matrix are from a target, and the gradient of that to the matrix.
//
// With m_k the share of motif k in the soft census of M and t the target, of 13 entries,
//
//   sse         L = sum over t_k > 0 of (m_k - t_k)^2                     motifs without a target are free (public
//   code) r_squared   L = 1 - R^2 = sum_k (m_k - t_k)^2 / sum_k (t_k - mean t)^2   all 13 count (the paper)
//
// A pure function, callable from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/motif/adjacency.h"
#include "core/motif/census.h"
#include "core/motif/motif_target.h"

namespace mambarium {

enum class MotifLossKind { sse, r_squared };

struct MotifLossSettings {
  MotifLossKind kind = MotifLossKind::sse;
  CensusShare share = CensusShare::triples;
  EdgeRule rule;
};

struct MotifLoss {
  double value = 0;
  std::optional<double> r_squared;            // also for sse; none where all 13 targets are equal
  std::array<double, motif_count> fractions;  // m
  std::vector<double> gradient;               // dL/dM, n x n
};

// matrix: n x n, row-major. Throws std::invalid_argument, one sentence: what adjacency.h and motif_target.h refuse, and
// r_squared for a target whose 13 shares hardly differ (sum of squares about their mean below 1e-12).
MotifLoss motif_loss(std::span<const double> matrix, std::size_t n, const MotifTarget& target,
                     const MotifLossSettings& settings);

}  // namespace mambarium
