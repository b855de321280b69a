#include "core/motif/triads.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "core/contract/text.h"

namespace mambarium {

namespace {

constexpr TriadCode ab = triad_edge(0, 1), ac = triad_edge(0, 2), ba = triad_edge(1, 0), bc = triad_edge(1, 2),
                    ca = triad_edge(2, 0), cb = triad_edge(2, 1);

constexpr std::array<Triad, triad_count> table = {{
    {"021D", 1, 2, ab | ac, "diverge: a->b, a->c"},
    {"021U", 2, 2, ac | bc, "converge: a->c, b->c"},
    {"021C", 3, 1, ab | bc, "chain: a->b->c"},
    {"030T", 4, 1, ab | bc | ac, "feed-forward loop: a->b->c, a->c"},
    {"111U", 5, 1, ab | ba | ac, "pair that sends: a<->b, a->c"},
    {"111D", 6, 1, ab | ba | ca, "pair that receives: a<->b, c->a"},
    {"120U", 7, 2, ab | ba | ac | bc, "pair that converges: a<->b, a->c, b->c"},
    {"120D", 8, 2, ab | ba | ca | cb, "pair diverged on: a<->b, c->a, c->b"},
    {"201", 9, 2, ab | ba | ac | ca, "two pairs: a<->b, a<->c"},
    {"030C", 10, 3, ab | bc | ca, "cycle: a->b->c->a"},
    {"120C", 11, 1, ab | ba | ca | bc, "pair in a cycle: a<->b, b->c->a"},
    {"210", 12, 1, ab | ba | ac | ca | bc, "two pairs and an edge: a<->b, a<->c, b->c"},
    {"300", 13, 6, ab | ba | ac | ca | bc | cb, "three pairs: a<->b, a<->c, b<->c"},
    {"003", 0, 6, 0, "no edge"},
    {"012", 0, 1, ab, "one edge: a->b"},
    {"102", 0, 2, ab | ba, "one pair: a<->b"},
}};

constexpr std::array<std::uint8_t, triad_code_count> classes_of_codes() {
  std::array<std::uint8_t, triad_code_count> classes{};
  for (std::size_t index = 0; index < triad_count; ++index)
    for (const auto& places : orders_of_three)
      classes[permuted(table[index].example, places)] = static_cast<std::uint8_t>(index);
  return classes;
}

constexpr std::array<std::uint8_t, triad_code_count> class_of_code = classes_of_codes();

std::string upper(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char byte) { return static_cast<char>(std::toupper(static_cast<unsigned char>(byte))); });
  return result;
}

[[noreturn]] void refuse(std::string_view text) {
  std::string names;
  for (const Triad& triad : table) {
    if (!names.empty()) names += ", ";
    names += triad.name;
  }
  throw std::invalid_argument(in_quotes(text) + " is not a triad; it is a MAN name (" + names +
                              ") or a motif number from 1 to 13, also as Motif-2");
}

}  // namespace

std::span<const Triad, triad_count> triads() {
  return table;
}

std::size_t classify(TriadCode code) {
  if (code >= triad_code_count)
    throw std::invalid_argument("a graph of three nodes has a code below 64, not " + std::to_string(code));
  return class_of_code[code];
}

std::size_t find_triad(std::string_view text) {
  const std::string wanted = upper(trimmed(text));
  for (std::size_t index = 0; index < triad_count; ++index)
    if (table[index].name == wanted) return index;
  std::string_view number = wanted;
  if (number.starts_with("MOTIF")) {
    number.remove_prefix(5);
    if (number.starts_with('-') || number.starts_with(' ')) number.remove_prefix(1);
  }
  const auto motif = integer_from(number);
  // "003" and "012" are names; "07" or "021" are neither.
  if (!motif || *motif < 1 || *motif > static_cast<std::int64_t>(motif_count) || number.starts_with('0')) refuse(text);
  return static_cast<std::size_t>(*motif - 1);
}

std::string triad_title(std::size_t index) {
  const Triad& triad = table.at(index);
  const std::string name(triad.name);
  return triad.motif == 0 ? name : "Motif-" + std::to_string(triad.motif) + " (" + name + ")";
}

}  // namespace mambarium
