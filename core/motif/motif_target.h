// What share of the triples each of the 13 motifs ought to have: one motif alone, a measured profile, or one's own.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/motif/triads.h"

namespace mambarium {

struct MotifTarget {
  std::string name;                             // "Motif-2 (021U)", "FRP", "own profile"
  std::array<double, motif_count> fractions{};  // each in [0, 1], together at most 1
};

// Throws std::invalid_argument: a triad (an index) that is not connected, a fraction outside (0, 1].
MotifTarget single_motif_target(std::size_t triad, double fraction = 0.25);

// "FRP" and "MOP" are the profiles of the projectomes of mouse frontal pole and primary motor cortex, "AVE" their mean;
// 13 numbers separated by commas are the shares of motifs 1 to 13; anything else is one motif, by MAN name or number,
// that gets `single_fraction`. Throws std::invalid_argument, one sentence.
MotifTarget motif_target(std::string_view text, double single_fraction = 0.25);

// Throws std::invalid_argument unless every fraction is in [0, 1], one is above 0 and they sum to at most 1.
void check(const MotifTarget& target);

}  // namespace mambarium
