// Circuit: the directed graph that the edges of a coupling M make, and where its nodes stand in a drawing.
//
// An edge is an entry above the threshold, |M_ij| > sqrt(theta), off the diagonal (core/motif/adjacency.h); its
// direction follows CircuitData::causal. An entry that is no number makes no edge. Any n is taken, 1 and 2 too: then
// there are no triples, and so no instances. Nodes are counted from 0. A value; pure functions of the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/contract/coupling_inspection.h"
#include "core/motif/census.h"

namespace mambarium {

class Circuit {
 public:
  // A pair of nodes with an edge; mutual: in both directions, and told once, with the larger of the two entries.
  struct Edge {
    std::size_t from = 0, to = 0;
    bool mutual = false;
    double weight = 0;
  };
  struct Place {
    double x = 0, y = 0;
  };

  Circuit() = default;
  explicit Circuit(const CircuitData& data);

  std::size_t size() const { return size_; }
  bool hasEdge(std::size_t from, std::size_t to) const { return adjacency_[from * size_ + to] != 0; }
  std::size_t edgeCount() const { return edge_count_; }      // a mutual one counts twice
  const std::vector<Edge>& edges() const { return edges_; }  // the weakest first
  std::size_t outDegree(std::size_t node) const { return out_[node]; }
  std::size_t inDegree(std::size_t node) const { return in_[node]; }

  std::int64_t instanceCount(std::size_t triad) const { return census_[triad]; }  // by the index of the class
  std::vector<TriadInstance> instances(std::size_t triad, std::size_t most) const;

  // One place for each node in the square from -1 to 1, y upwards. Where most nodes only send or only receive, the
  // senders stand on the left and the receivers on the right of a circle, nodes that do both between them, and nodes
  // without an edge at its foot. Else all stand on the circle, those that send more than they receive to the left.
  std::vector<Place> layout() const;

 private:
  std::vector<Place> layered(const std::vector<std::vector<std::size_t>>& roles) const;
  std::vector<Place> around() const;

  std::size_t size_ = 0, edge_count_ = 0;
  std::vector<std::uint8_t> adjacency_;  // n x n, not 0 where row -> column
  std::vector<std::size_t> out_, in_;
  std::vector<Edge> edges_;
  HardCensus census_{};
};

}  // namespace mambarium
