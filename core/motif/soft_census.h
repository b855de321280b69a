// How much of each of the 16 triads a matrix of edge probabilities holds, and the gradient of that.
//
// If every edge i -> j were there with probability S_ij, independently, the soft count of a class is the expected
// number of triples that form it: over the ordered triples, the product of S for each edge present and 1 - S for each
// absent, divided by the automorphisms. With U = 1 - I, C = U - S and per pair
//
//   N = C o C^T  no edge,   F = S o C^T  only i -> j,   B = S o S^T  both,
//
// the 13 connected counts are inner products of N, F and B with six matrix products: F N, N F, F F^T, F^T F, F F, B B;
// the other three with N N. The gradient takes three more: B N, B F, F B. O(n^3) time, 16 n^2 numbers of memory.
//
// A value; const functions may be called from any threads.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/motif/triads.h"

namespace mambarium {

class SoftCensus {
 public:
  // adjacency: n x n, S_ij in [0, 1]; its diagonal is taken as 0. Throws std::invalid_argument unless n >= 3 and there
  // are n * n numbers in [0, 1].
  SoftCensus(std::span<const double> adjacency, std::size_t n);

  // Counts, of triples: motif 1 first, and all 16 in the order of triads(), which sum to n (n - 1) (n - 2) / 6.
  const std::array<double, motif_count>& motifs() const { return motifs_; }
  std::array<double, triad_count> counts() const;

  // The n x n gradient, to S, of the sum of the weights times motifs().
  std::vector<double> gradient(std::span<const double, motif_count> weights) const;

 private:
  std::size_t n_ = 0;
  std::vector<double> soft_;                           // S
  std::vector<double> none_, single_, both_;           // N, F, B
  std::vector<double> fn_, nf_, fft_, ftf_, ff_, bb_;  // the six products
  std::array<double, motif_count> motifs_{};
};

}  // namespace mambarium
