// A motif profile as a person types it: which share of all triples of states each of the 13 connected triads should be.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace mambarium {

inline constexpr std::size_t motif_count = 13;        // connected triads: core/motif/triads.h
using MotifShares = std::array<double, motif_count>;  // in the order of the motifs' numbers, 1 first

// 13 numbers separated by commas, each from 0 to 1, together from above 0 to 1. With a problem (one sentence: what, and
// what would be right) the shares are zeros.
struct ReadMotifShares {
  MotifShares shares{};
  std::string problem;
};
ReadMotifShares motif_shares_from(std::string_view text);

}  // namespace mambarium
