// Random numbers and systems for tests: SplitMix64, the same everywhere.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/flow/latent_system.h"

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}

  double uniform(double from = 0, double to = 1) {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
    return from + (to - from) * static_cast<double>(mixed >> 11) * 0x1p-53;
  }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  std::vector<double> normals(std::int64_t count, double scale = 1) {
    std::vector<double> values(count);
    for (double& value : values) value = scale * normal();
    return values;
  }

 private:
  std::uint64_t state_;
};

// A = -1 .. -n as in a fresh model, varied; P and Q of this size per entry.
inline mambarium::LatentSystem random_system(RandomNumbers& random, std::int64_t n, std::int64_t r, double size) {
  mambarium::LatentSystem system{n, r, {}, random.normals(n * r, size), random.normals(r * n, size)};
  for (std::int64_t i = 0; i < n; ++i) system.A.push_back(-static_cast<double>(i + 1) * random.uniform(0.5, 1.5));
  return system;
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

inline double length_of(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}
