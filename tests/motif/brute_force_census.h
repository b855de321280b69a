// The definition, triple by triple: the product over ordered pairs of S for an edge that is there and 1 - S for one
// that is not, over all six orders of three nodes, divided by the automorphisms. Shares no formula with the library.
#pragma once

#include <array>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "core/motif/triads.h"

// Number: double, or std::complex<double> for derivatives by a complex step.
template <typename Number>
std::array<Number, mambarium::triad_count> brute_force_census(std::span<const Number> soft, std::size_t n) {
  using namespace mambarium;
  std::array<Number, triad_count> counts{};
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b)
      for (std::size_t c = 0; c < n; ++c) {
        if (a == b || b == c || a == c) continue;
        const std::array<std::size_t, 3> nodes = {a, b, c};
        for (std::size_t index = 0; index < triad_count; ++index) {
          const Triad& triad = triads()[index];
          Number product = 1;
          for (std::size_t from = 0; from < 3; ++from)
            for (std::size_t to = 0; to < 3; ++to) {
              if (from == to) continue;
              const Number edge = soft[nodes[from] * n + nodes[to]];
              product *= (triad.example & triad_edge(from, to)) != 0 ? edge : Number(1) - edge;
            }
          counts[index] += product / static_cast<double>(triad.automorphisms);
        }
      }
  return counts;
}

inline std::vector<double> random_probabilities(std::size_t n, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> soft(n * n);
  for (double& edge : soft) edge = uniform(random);
  return soft;
}

inline std::vector<std::uint8_t> random_graph(std::size_t n, double density, std::mt19937_64& random) {
  std::bernoulli_distribution there(density);
  std::vector<std::uint8_t> adjacency(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) adjacency[i * n + j] = i != j && there(random) ? 1 : 0;
  return adjacency;
}
