// The noise in made-up answers: Numerical Recipes' 32-bit congruential generator, the same on every machine.
#pragma once

#include <cstdint>

namespace mambarium::fake {

class Noise {
 public:
  explicit Noise(std::uint32_t seed) : state_(seed) {}
  double uniform() {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) / 16777216.0;
  }
  double centered() { return uniform() + uniform() + uniform() - 1.5; }

 private:
  std::uint32_t state_;
};

}  // namespace mambarium::fake
