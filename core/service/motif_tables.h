// What the motif command prints: the census of a matrix, and how warm-ups ended, as text, CSV or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/motif/adjacency.h"
#include "core/motif/census.h"
#include "core/motif/connection_matrix.h"
#include "core/motif/motif_loss.h"
#include "core/motif/warm_up.h"

namespace mambarium {

struct CensusReport {
  std::string name;  // the file
  ConnectionMatrix matrix;
  EdgeRule rule;
  CensusShare share = CensusShare::triples;
  HardCensus hard{};
  Census soft{};
  double edge_density = 0, mean_edge_entropy = 0;
  std::optional<std::size_t> listed;     // a triad whose instances are wanted
  std::vector<TriadInstance> instances;  // of that triad
};

// listed: also find the triples of that triad, an index.
CensusReport take_census(std::string name, ConnectionMatrix matrix, const EdgeRule& rule, CensusShare share,
                         std::optional<std::size_t> listed);
void print_census(const CensusReport& report, const std::string& format);

// The warm-ups of one rank, seed 0 first.
struct WarmUpRank {
  std::size_t rank = 0;
  std::vector<WarmUpResult> runs;

  std::size_t reached() const;
  // The middle one of the steps, the upper of two; nothing where that run did not reach the loss.
  std::optional<std::int64_t> median_steps() const;
};

struct WarmUpReport {
  MotifTarget target;
  std::size_t n = 0;
  MotifLossSettings loss;
  WarmUpSettings settings;
  std::vector<WarmUpRank> ranks;
};

void print_warm_ups(const WarmUpReport& report, const std::string& format);

}  // namespace mambarium
