#include "core/tasks/stationary.h"

#include <algorithm>
#include <numeric>

namespace mambarium {

std::vector<double> stationary_distribution(std::span<const double> kernel, std::int64_t states) {
  constexpr double never = 1e-18;
  const auto symbols = static_cast<std::size_t>(states);
  const std::size_t contexts = kernel.size() / symbols;
  std::vector<double> move(contexts * contexts);
  for (std::size_t context = 0; context < contexts; ++context) {
    for (std::size_t symbol = 0; symbol < symbols; ++symbol) {
      const std::size_t next = (context * symbols + symbol) % contexts;
      move[context * contexts + next] += std::max(kernel[context * symbols + symbol], never);
    }
  }
  for (std::size_t last = contexts - 1; last > 0; --last) {
    const auto row = std::span(move).subspan(last * contexts, last);
    const double leaving = std::accumulate(row.begin(), row.end(), 0.0);
    for (std::size_t from = 0; from < last; ++from) {
      double& into = move[from * contexts + last];
      into /= leaving;
      for (std::size_t to = 0; to < last; ++to) move[from * contexts + to] += into * row[to];
    }
  }
  std::vector<double> distribution(contexts, 1.0);
  for (std::size_t context = 1; context < contexts; ++context) {
    distribution[context] = 0;
    for (std::size_t from = 0; from < context; ++from)
      distribution[context] += distribution[from] * move[from * contexts + context];
  }
  const double total = std::accumulate(distribution.begin(), distribution.end(), 0.0);
  for (double& probability : distribution) probability /= total;
  return distribution;
}

}  // namespace mambarium
