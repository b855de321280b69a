#include "core/motif/census.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/motif/adjacency.h"

namespace mambarium {

namespace {

// n rows of n bits.
class BitRows {
 public:
  explicit BitRows(std::size_t n) : words_((n + 63) / 64), bits_(n * words_) {}

  void set(std::size_t i, std::size_t j) { bits_[i * words_ + j / 64] |= std::uint64_t{1} << (j % 64); }
  std::span<const std::uint64_t> row(std::size_t i) const { return std::span(bits_).subspan(i * words_, words_); }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

std::int64_t common(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  std::int64_t count = 0;
  for (std::size_t word = 0; word < a.size(); ++word) count += std::popcount(a[word] & b[word]);
  return count;
}

}  // namespace

HardCensus hard_census(std::span<const std::uint8_t> adjacency, std::size_t n) {
  check_square(adjacency.size(), n, "the adjacency");
  const auto edge = [&](std::size_t i, std::size_t j) { return adjacency[i * n + j] != 0; };
  BitRows none(n), out(n), in(n), both(n);  // N, F, F^T, B of soft_census.h
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const bool there = edge(i, j), back = edge(j, i);
      (there ? (back ? both : out) : (back ? in : none)).set(i, j);
    }
  HardCensus sums{};
  const auto add = [&](std::string_view name, std::int64_t count) { sums[find_triad(name)] += count; };
  std::int64_t diverge = 0, chain = 0, loop = 0, cycle = 0, pairs_and_edge = 0, one_edge = 0;
  std::int64_t converge = 0, two_pairs = 0, nothing = 0;
  std::int64_t sends = 0, receives = 0, converges = 0, diverged_on = 0, pair_in_cycle = 0, all_pairs = 0, one_pair = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const bool there = edge(i, j), back = edge(j, i);
      if (there && !back) {
        diverge += common(out.row(i), none.row(j));
        chain += common(out.row(j), none.row(i));
        loop += common(out.row(i), out.row(j));
        cycle += common(out.row(j), in.row(i));
        pairs_and_edge += common(both.row(i), both.row(j));
        one_edge += common(none.row(i), none.row(j));
      } else if (there) {
        sends += common(out.row(i), none.row(j));
        receives += common(none.row(i), in.row(j));
        converges += common(out.row(i), out.row(j));
        diverged_on += common(in.row(i), in.row(j));
        pair_in_cycle += common(out.row(i), in.row(j));
        all_pairs += common(both.row(i), both.row(j));
        one_pair += common(none.row(i), none.row(j));
      } else if (!back) {
        converge += common(out.row(i), out.row(j));
        two_pairs += common(both.row(i), both.row(j));
        nothing += common(none.row(i), none.row(j));
      }
    }
  // Each sum is over ordered pairs and meets every triple once for each way its class maps onto itself.
  add("021D", diverge / 2);
  add("021U", converge / 2);
  add("021C", chain);
  add("030T", loop);
  add("111U", sends);
  add("111D", receives);
  add("120U", converges / 2);
  add("120D", diverged_on / 2);
  add("201", two_pairs / 2);
  add("030C", cycle / 3);
  add("120C", pair_in_cycle);
  add("210", pairs_and_edge);
  add("300", all_pairs / 6);
  add("003", nothing / 6);
  add("012", one_edge);
  add("102", one_pair / 2);
  return sums;
}

std::vector<TriadInstance> triad_instances(std::span<const std::uint8_t> adjacency, std::size_t n, std::size_t triad,
                                           std::size_t most) {
  check_square(adjacency.size(), n, "the adjacency");
  if (triad >= triad_count)
    throw std::invalid_argument("there is no triad number " + std::to_string(triad) + "; an index is 0 to 15");
  const TriadCode wanted = triads()[triad].example;
  std::vector<TriadInstance> found;
  const auto code_of = [&](const TriadInstance& nodes) {
    unsigned code = 0;
    for (std::size_t from = 0; from < 3; ++from)
      for (std::size_t to = 0; to < 3; ++to)
        if (from != to && adjacency[nodes[from] * n + nodes[to]] != 0) code |= triad_edge(from, to);
    return static_cast<TriadCode>(code);
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      for (std::size_t k = j + 1; k < n; ++k) {
        if (found.size() >= most) return found;
        const TriadInstance sorted = {i, j, k};
        if (classify(code_of(sorted)) != triad) continue;
        for (const auto& order : orders_of_three) {
          const TriadInstance roles = {sorted[order[0]], sorted[order[1]], sorted[order[2]]};
          if (code_of(roles) != wanted) continue;
          found.push_back(roles);
          break;
        }
      }
  return found;
}

Census shares(const Census& counts, std::size_t n, CensusShare of) {
  const bool connected = of == CensusShare::connected;
  const double all = connected ? std::accumulate(counts.begin(), counts.begin() + motif_count, 0.0) : triple_count(n);
  Census result{};
  if (!(all > 0)) return result;
  for (std::size_t i = 0; i < (connected ? motif_count : triad_count); ++i) result[i] = counts[i] / all;
  return result;
}

double triple_count(std::size_t n) {
  const auto nodes = static_cast<double>(n);
  return n < 3 ? 0 : nodes * (nodes - 1) * (nodes - 2) / 6;
}

Census as_real(const HardCensus& counts) {
  Census real{};
  std::ranges::transform(counts, real.begin(), [](std::int64_t count) { return static_cast<double>(count); });
  return real;
}

}  // namespace mambarium
