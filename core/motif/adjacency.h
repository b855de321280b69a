// What counts as an edge of a matrix of weights, and how surely.
//
//   S = sigmoid(beta (M o M - theta)), zero on the diagonal       soft, in [0, 1]; M n x n, row-major
//   edge where M_ij^2 > theta, that is |M_ij| > sqrt(theta), S > 1/2   hard
//
// The sign of M does not matter and the diagonal never counts. Direction: with EdgeConvention::index a large M_ij is
// the edge i -> j, as the papers count; with causal it is j -> i, the way a state h_j acts on h_i in M h. Causal counts
// are those of M transposed: they swap 021D with 021U, 111D with 111U and 120D with 120U and leave the others.
//
// Pure functions of their arguments, callable from any thread. They throw std::invalid_argument, one sentence, when
// n < 3, a size is not n * n, a number is not finite, beta is not above 0 or theta is below 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mambarium {

enum class EdgeConvention { index, causal };

struct EdgeRule {
  double beta = 1e5;
  double theta = 5e-5;
  EdgeConvention edges = EdgeConvention::index;
};

std::vector<double> soft_adjacency(std::span<const double> matrix, std::size_t n, const EdgeRule& rule);
std::vector<std::uint8_t> hard_adjacency(std::span<const double> matrix, std::size_t n, const EdgeRule& rule);

// dL/dM from dL/dS, both n x n; the diagonal of the result is 0.
std::vector<double> soft_adjacency_gradient(std::span<const double> matrix, std::span<const double> adjacency_gradient,
                                            std::size_t n, const EdgeRule& rule);

// Of the n (n - 1) possible edges: the mean of -S log2 S - (1 - S) log2 (1 - S), 0 where every edge is decided, 1 where
// none is; and the share that is there.
double mean_edge_entropy(std::span<const double> adjacency, std::size_t n);
double edge_density(std::span<const std::uint8_t> adjacency, std::size_t n);

// What every function of n x n numbers asks first; `what` names the matrix in the sentence.
void check_square(std::size_t numbers, std::size_t n, std::string_view what);

}  // namespace mambarium
