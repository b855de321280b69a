#include "core/contract/student_t.h"

#include <cmath>
#include <numbers>

namespace mambarium {

double student_t_within(double t, std::int64_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double sine = std::sin(angle), cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = degrees > 1 ? term : 0;
  for (std::int64_t power = odd ? 3 : 2; power <= degrees - 2; power += 2) {
    const auto index = static_cast<double>(power);
    term *= cosine * cosine * (index - 1) / index;
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
}

double student_t_95(std::int64_t degrees) {
  double below = 0, above = 16;
  constexpr int bisections = 60;
  for (int step = 0; step < bisections; ++step) {
    const double middle = (below + above) / 2;
    (student_t_within(middle, degrees) < 0.95 ? below : above) = middle;
  }
  return (below + above) / 2;
}

}  // namespace mambarium
