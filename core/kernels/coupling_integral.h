// What exponential time differencing weighs the coupling by, for one state: phi = (exp(dt A) - 1) / A, the integral of
// the decay over a step, and its derivative by A. Accurate to a few roundings for every dt >= 0 and A <= 0, also where
// dt A is tiny or 0 (phi = dt, derivative dt^2 / 2). The derivative by dt is exp(dt A).
#pragma once

#include <cmath>

namespace mambarium::kernels {

template <class Real>
Real coupling_integral(Real dt, Real A) {
  return A == 0 ? dt : std::expm1(dt * A) / A;
}

// (dt exp(dt A) - phi) / A, which cancels for small dt A: there dt^2 times the series sum_k (k + 1) x^k / (k + 2)!.
template <class Real>
Real coupling_integral_by_A(Real dt, Real A) {
  const Real x = dt * A;
  if (std::abs(x) > Real(0.1)) {
    return (dt * std::exp(x) - std::expm1(x) / A) / A;
  }
  Real power_by_factorial = Real(0.5), sum = 0;  // x^k / (k + 2)!
  for (int k = 0; k < 12; ++k) {
    sum += static_cast<Real>(k + 1) * power_by_factorial;
    power_by_factorial *= x / static_cast<Real>(k + 3);
  }
  return dt * dt * sum;
}

}  // namespace mambarium::kernels
