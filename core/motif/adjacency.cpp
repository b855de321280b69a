#include "core/motif/adjacency.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "core/contract/text.h"

namespace mambarium {

namespace {

void check(std::span<const double> matrix, std::size_t n, const EdgeRule& rule) {
  check_square(matrix.size(), n, "the matrix");
  if (!(rule.beta > 0) || !std::isfinite(rule.beta))
    throw std::invalid_argument("beta is " + shortest(rule.beta) + "; it must be a number above 0");
  if (!(rule.theta >= 0) || !std::isfinite(rule.theta))
    throw std::invalid_argument("theta is " + shortest(rule.theta) + "; it must be 0 or a number above");
  for (std::size_t i = 0; i < matrix.size(); ++i)
    if (!std::isfinite(matrix[i]))
      throw std::invalid_argument("row " + std::to_string(i / n + 1) + ", column " + std::to_string(i % n + 1) +
                                  " of the matrix is " + shortest(matrix[i]) + "; it must be a finite number");
}

// Where the weight of the edge from -> to stands.
std::size_t place(std::size_t from, std::size_t to, std::size_t n, EdgeConvention edges) {
  return edges == EdgeConvention::index ? from * n + to : to * n + from;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

double entropy_term(double p) {
  return p > 0 ? -p * std::log2(p) : 0;
}

}  // namespace

void check_square(std::size_t numbers, std::size_t n, std::string_view what) {
  if (n < 3) throw std::invalid_argument(std::to_string(n) + " nodes have no triads; there must be at least 3");
  if (n > 65536 || numbers != n * n)
    throw std::invalid_argument(std::string(what) + " of " + std::to_string(n) + " nodes has " +
                                std::to_string(numbers) + " numbers; it must have " + std::to_string(n) + " x " +
                                std::to_string(n));
}

std::vector<double> soft_adjacency(std::span<const double> matrix, std::size_t n, const EdgeRule& rule) {
  check(matrix, n, rule);
  std::vector<double> soft(n * n);
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to) {
      const double weight = matrix[place(from, to, n, rule.edges)];
      if (from != to) soft[from * n + to] = sigmoid(rule.beta * (weight * weight - rule.theta));
    }
  return soft;
}

std::vector<std::uint8_t> hard_adjacency(std::span<const double> matrix, std::size_t n, const EdgeRule& rule) {
  check(matrix, n, rule);
  std::vector<std::uint8_t> hard(n * n);
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to) {
      const double weight = matrix[place(from, to, n, rule.edges)];
      hard[from * n + to] = from != to && weight * weight > rule.theta ? 1 : 0;
    }
  return hard;
}

std::vector<double> soft_adjacency_gradient(std::span<const double> matrix, std::span<const double> adjacency_gradient,
                                            std::size_t n, const EdgeRule& rule) {
  check(matrix, n, rule);
  check_square(adjacency_gradient.size(), n, "the gradient");
  std::vector<double> gradient(n * n);
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to) {
      if (from == to) continue;
      const std::size_t at = place(from, to, n, rule.edges);
      const double x = rule.beta * (matrix[at] * matrix[at] - rule.theta);
      gradient[at] = adjacency_gradient[from * n + to] * sigmoid(x) * sigmoid(-x) * 2 * rule.beta * matrix[at];
    }
  return gradient;
}

double mean_edge_entropy(std::span<const double> adjacency, std::size_t n) {
  check_square(adjacency.size(), n, "the adjacency");
  double sum = 0;
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to) {
      const double edge = adjacency[from * n + to];
      if (from != to) sum += entropy_term(edge) + entropy_term(1 - edge);
    }
  return sum / static_cast<double>(n * (n - 1));
}

double edge_density(std::span<const std::uint8_t> adjacency, std::size_t n) {
  check_square(adjacency.size(), n, "the adjacency");
  std::size_t edges = 0;
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to) edges += from != to && adjacency[from * n + to] != 0 ? 1 : 0;
  return static_cast<double>(edges) / static_cast<double>(n * (n - 1));
}

}  // namespace mambarium
