#include "core/tasks/dirichlet.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace mambarium {
namespace {

constexpr std::uint64_t sorted_uniforms = std::uint64_t{1} << 32;
constexpr std::uint64_t small_shape_uniforms = std::uint64_t{2} << 32;
constexpr std::uint64_t first_attempt = std::uint64_t{3} << 32;
constexpr std::uint64_t next_attempt = std::uint64_t{1} << 32;

double open_unit_interval(std::uint32_t word) {
  return (word + 0.5) * 0x1p-32;
}

// log of a Gamma(shape) variate; `entry` is its number within the sequence.
double log_gamma_variate(const Stream& stream, std::uint64_t n, std::uint64_t entry, double shape) {
  double boost = 0;
  if (shape < 1) {
    const auto words = stream.block(small_shape_uniforms + entry, n);
    const double uniform = (words[0] + open_unit_interval(words[1])) * 0x1p-32;
    boost = std::log(uniform) / shape;
    shape += 1;
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (std::uint64_t attempt = first_attempt;; attempt += next_attempt) {
    const auto words = stream.block(attempt + entry, n);
    const double normal = std::sqrt(-2 * std::log(open_unit_interval(words[0]))) *
                          std::cos(2 * std::numbers::pi * open_unit_interval(words[1]));
    const double root = 1 + c * normal;
    if (root <= 0) continue;
    const double log_v = 3 * std::log(root);
    const double v = root * root * root;
    if (std::log(open_unit_interval(words[2])) < 0.5 * normal * normal + d - d * v + d * log_v) {
      return boost + std::log(d) + log_v;
    }
  }
}

}  // namespace

void draw_cumulative_row(const Stream& stream, std::uint64_t n, std::uint64_t row, double beta,
                         std::span<std::int64_t> out) {
  if (beta == 1.0) {
    std::uint64_t number = row * out.size();
    auto words = stream.block(sorted_uniforms + number / 4, n);
    for (std::int64_t& cumulative : out) {
      cumulative = words[number % 4] >> 1;
      if (++number % 4 == 0) words = stream.block(sorted_uniforms + number / 4, n);
    }
    std::sort(out.begin(), out.end());
    return;
  }
  const std::size_t states = out.size() + 1;
  std::vector<double> weights(states);
  for (std::size_t s = 0; s < states; ++s) weights[s] = log_gamma_variate(stream, n, row * states + s, beta);
  const double largest = *std::max_element(weights.begin(), weights.end());
  double total = 0;
  for (double& weight : weights) total += weight = std::exp(weight - largest);
  double sum = 0;
  for (std::size_t s = 0; s + 1 < states; ++s) {
    sum += weights[s];
    out[s] = std::min<std::int64_t>(std::llround(sum / total * static_cast<double>(probability_one)), probability_one);
  }
}

void write_probabilities(std::span<const std::int64_t> cumulative, std::span<float> out) {
  std::int64_t before = 0;
  for (std::size_t s = 0; s < cumulative.size(); ++s) {
    out[s] = static_cast<float>(cumulative[s] - before) * 0x1p-31f;
    before = cumulative[s];
  }
  out.back() = static_cast<float>(probability_one - before) * 0x1p-31f;
}

void append_probabilities(std::span<const std::int64_t> cumulative, std::vector<double>& out) {
  std::int64_t before = 0;
  for (const std::int64_t sum : cumulative) {
    out.push_back(static_cast<double>(sum - before) * 0x1p-31);
    before = sum;
  }
  out.push_back(static_cast<double>(probability_one - before) * 0x1p-31);
}

}  // namespace mambarium
