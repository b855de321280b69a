#include "ui/plots/circuit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/motif/adjacency.h"

namespace mambarium {
namespace {

constexpr std::size_t fewest_nodes = 3;  // of a census

// The matrix as the census takes it: of at least three nodes, and 0 where there is no number.
std::vector<std::uint8_t> adjacencyOf(const CircuitData& data, std::size_t n) {
  const std::size_t padded = std::max(n, fewest_nodes);
  std::vector<double> matrix(padded * padded);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const float entry = data.coupling.data[i * n + j];
      matrix[i * padded + j] = std::isfinite(entry) ? static_cast<double>(entry) : 0;
    }
  EdgeRule rule;
  rule.theta = data.theta >= 0 ? data.theta : 0;
  rule.edges = data.causal ? EdgeConvention::causal : EdgeConvention::index;
  const std::vector<std::uint8_t> edges = hard_adjacency(matrix, padded, rule);
  std::vector<std::uint8_t> result(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) result[i * n + j] = edges[i * padded + j];
  return result;
}

Circuit::Place onCircle(double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  return {std::cos(angle), std::sin(angle)};
}

// `index` of `count` places from `first` to `last`, half a step away from both.
double spread(std::size_t index, std::size_t count, double first, double last) {
  return first + (last - first) * (static_cast<double>(index) + 0.5) / static_cast<double>(count);
}

}  // namespace

Circuit::Circuit(const CircuitData& data)
    : size_(static_cast<std::size_t>(data.coupling.shape.at(0))),
      adjacency_(adjacencyOf(data, size_)),
      out_(size_),
      in_(size_) {
  const auto entry = [&](std::size_t from, std::size_t to) {
    const std::size_t index = data.causal ? to * size_ + from : from * size_ + to;
    return static_cast<double>(data.coupling.data[index]);
  };
  for (std::size_t i = 0; i < size_; ++i)
    for (std::size_t j = 0; j < size_; ++j) {
      if (!hasEdge(i, j)) continue;
      ++edge_count_;
      ++out_[i];
      ++in_[j];
      const bool mutual = hasEdge(j, i);
      if (mutual && j < i) continue;
      double weight = entry(i, j);
      if (mutual && std::abs(entry(j, i)) > std::abs(weight)) weight = entry(j, i);
      edges_.push_back({i, j, mutual, weight});
    }
  std::ranges::stable_sort(edges_, {}, [](const Edge& edge) { return std::abs(edge.weight); });
  if (size_ >= fewest_nodes) census_ = hard_census(adjacency_, size_);
}

std::vector<TriadInstance> Circuit::instances(std::size_t triad, std::size_t most) const {
  if (size_ < fewest_nodes || census_[triad] == 0) return {};
  return triad_instances(adjacency_, size_, triad, most);
}

std::vector<Circuit::Place> Circuit::layout() const {
  std::vector<std::vector<std::size_t>> roles(4);
  for (std::size_t node = 0; node < size_; ++node)
    roles[(out_[node] > 0 ? 0u : 1u) + (in_[node] > 0 ? 0u : 2u)].push_back(node);
  const std::size_t both = roles[0].size(), receivers = roles[1].size(), senders = roles[2].size();
  return senders > 0 && receivers > 0 && senders + receivers >= both ? layered(roles) : around();
}

std::vector<Circuit::Place> Circuit::layered(const std::vector<std::vector<std::size_t>>& roles) const {
  constexpr double half_gap = 20, half_column = 0.8;  // at the top of the circle, in degrees
  const double share = static_cast<double>(roles[3].size()) / static_cast<double>(size_);
  const double below = std::clamp(180 * share + 6, half_gap, 75.0);
  std::vector<Place> places(size_);
  const auto alongArc = [&](const std::vector<std::size_t>& nodes, double first, double last) {
    for (std::size_t i = 0; i < nodes.size(); ++i) places[nodes[i]] = onCircle(spread(i, nodes.size(), first, last));
  };
  // Many in the middle stand in two columns, in turn, so that their names have room.
  constexpr std::size_t most_in_a_column = 5;
  const double aside = roles[0].size() > most_in_a_column ? 0.15 : 0;
  for (std::size_t i = 0; i < roles[0].size(); ++i)
    places[roles[0][i]] = {i % 2 == 0 ? -aside : aside, spread(i, roles[0].size(), half_column, -half_column)};
  alongArc(roles[1], 90 - half_gap, below - 90);
  alongArc(roles[2], 90 + half_gap, 270 - below);
  alongArc(roles[3], 270 - below, 270 + below);
  return places;
}

std::vector<Circuit::Place> Circuit::around() const {
  std::vector<std::size_t> order(size_);
  std::iota(order.begin(), order.end(), 0);
  const auto surplus = [this](std::size_t node) {
    return static_cast<std::int64_t>(out_[node]) - static_cast<std::int64_t>(in_[node]);
  };
  std::ranges::stable_sort(order, std::greater(), surplus);
  std::vector<Place> places(size_);
  for (std::size_t rank = 0; rank < size_; ++rank) {
    const double away = 360.0 * static_cast<double>((rank + 1) / 2) / static_cast<double>(size_);
    places[order[rank]] = onCircle(rank % 2 == 1 ? 180 - away : 180 + away);
  }
  return places;
}

}  // namespace mambarium
