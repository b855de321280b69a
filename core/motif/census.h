// The triad census of a directed graph: how many of its n (n - 1) (n - 2) / 6 triples of nodes fall in each of the 16
// classes, exactly; which ones; and counts as shares. For probabilities of edges see soft_census.h.
//
// Pure functions, callable from any thread. adjacency: n x n, row-major, not 0 where i -> j; its diagonal never counts.
// They throw std::invalid_argument, one sentence, when n < 3 or there are not n * n entries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/motif/triads.h"

namespace mambarium {

using HardCensus = std::array<std::int64_t, triad_count>;  // in the order of triads()
using Census = std::array<double, triad_count>;

// In whole numbers, pair by pair on rows of bits: O(n^3 / 64) time.
HardCensus hard_census(std::span<const std::uint8_t> adjacency, std::size_t n);

// The nodes of one triple in the order of the roles a, b, c of the class's example graph; where a class has
// automorphisms, the smaller node comes first.
using TriadInstance = std::array<std::size_t, 3>;

// The triples of class `triad`, an index, in lexicographic order of their sorted nodes, at most `most` of them.
std::vector<TriadInstance> triad_instances(std::span<const std::uint8_t> adjacency, std::size_t n, std::size_t triad,
                                           std::size_t most = 10000);

// triples: shares of all triples, as the losses of the public code. connected: of the triples in the 13 connected
// classes; all 0 where there is none, and 0 for 003, 012 and 102.
enum class CensusShare { triples, connected };
Census shares(const Census& counts, std::size_t n, CensusShare of);

double triple_count(std::size_t n);
Census as_real(const HardCensus& counts);

}  // namespace mambarium
