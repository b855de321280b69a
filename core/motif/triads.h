// The 16 classes into which directed graphs of three nodes fall (Holland and Leinhardt 1970), by MAN name: how many of
// the three pairs are Mutual, Asymmetric, Null, and a letter where that leaves a choice (Down, Up, Cyclic, Transitive).
//
// 13 of them hang together and carry the motif numbers 1 to 13 of Motif-Mamba, which are its own: only 8, 9, 12 and 13
// agree with Sporns and Koetter. Always show the MAN name beside the number.
//
// An index of a class is 0 to 15: motif number minus 1 for the connected ones, then 003, 012, 102.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/contract/motif_shares.h"

namespace mambarium {

inline constexpr std::size_t triad_count = 16;  // and motif_count of them connected
inline constexpr std::size_t triad_030c = 9;    // a cycle: thresholding a matrix of rank 1 never makes one

// A directed graph on the nodes 0, 1, 2 (a, b, c) without loops: bit 0 is a->b, 1 a->c, 2 b->a, 3 b->c, 4 c->a, 5 c->b.
using TriadCode = std::uint8_t;
inline constexpr std::size_t triad_code_count = 64;

// from, to in 0..2 and different.
constexpr TriadCode triad_edge(std::size_t from, std::size_t to) {
  return static_cast<TriadCode>(1u << (2 * from + (to < from ? to : to - 1)));
}

// The same graph with node i at places[i].
constexpr TriadCode permuted(TriadCode code, const std::array<std::size_t, 3>& places) {
  unsigned result = 0;
  for (std::size_t from = 0; from < 3; ++from)
    for (std::size_t to = 0; to < 3; ++to)
      if (from != to && (code & triad_edge(from, to)) != 0) result |= triad_edge(places[from], places[to]);
  return static_cast<TriadCode>(result);
}

inline constexpr std::array<std::array<std::size_t, 3>, 6> orders_of_three = {
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

struct Triad {
  std::string_view name;  // "021U"
  int motif = 0;          // 1..13; 0: not connected
  int automorphisms = 1;  // orders of the nodes that change nothing; 6 / this many of the 64 graphs are of the class
  TriadCode example = 0;  // one labelled graph of the class, whose a, b, c are its roles
  std::string_view description;  // "converge: a->c, b->c"
};

std::span<const Triad, triad_count> triads();

// The index of the class of a labelled graph, code < 64. Each of the 64 falls in exactly one.
std::size_t classify(TriadCode code);

// "021U", "021u", "2", "Motif-2", "motif 2": case does not matter. The index.
// Throws std::invalid_argument, one sentence with all that is right.
std::size_t find_triad(std::string_view text);

// "Motif-2 (021U)", or "003".
std::string triad_title(std::size_t index);

}  // namespace mambarium
