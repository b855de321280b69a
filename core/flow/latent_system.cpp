#include "core/flow/latent_system.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/flow/dense_matrix.h"
#include "core/flow/pseudo_inverse.h"

namespace mambarium {
namespace {

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

void check_size(const std::vector<double>& values, std::int64_t size, const char* name, const char* shape) {
  if (std::ssize(values) != size)
    throw std::invalid_argument(std::string("latent system: ") + name + " holds " + std::to_string(values.size()) +
                                " numbers, but " + shape + " is " + std::to_string(size));
  if (!all_finite(values))
    throw std::invalid_argument(std::string("latent system: ") + name + " holds a number that is not finite");
}

void check_vector(std::span<const double> values, std::int64_t n, const char* name) {
  if (std::ssize(values) != n || !all_finite(values))
    throw std::invalid_argument(std::string("latent system: ") + name + " must be " + std::to_string(n) +
                                " finite numbers, one per state");
}

// dh/dt = rate . h + coupling . (P z) + input . b, or h_t - h_{t-1} in the same form.
struct Rates {
  std::vector<double> rate, coupling;
  double input = 1;
  FieldKind kind = FieldKind::velocity;
};

Rates rates(const LatentSystem& system, const StateUpdate& update) {
  if (update.form == UpdateForm::continuous) return {system.A, std::vector<double>(system.n, 1.0)};
  Rates result{{}, token_factors(system.A, update).coupling, update.dt, FieldKind::displacement};
  for (const double a : system.A) result.rate.push_back(std::expm1(update.dt * a));
  return result;
}

std::vector<double> scaled_rows(std::span<const double> matrix, std::span<const double> factors) {
  std::vector<double> result(matrix.begin(), matrix.end());
  const std::int64_t columns = std::ssize(matrix) / std::ssize(factors);
  for (std::int64_t index = 0; index < std::ssize(result); ++index) result[index] *= factors[index / columns];
  return result;
}

}  // namespace

void check_system(const LatentSystem& system) {
  if (system.n < 1 || system.r < 1)
    throw std::invalid_argument("latent system: n is " + std::to_string(system.n) + " and r " +
                                std::to_string(system.r) + "; both must be 1 or more");
  check_size(system.A, system.n, "A", "n");
  check_size(system.P, system.n * system.r, "P", "n x r");
  check_size(system.Q, system.r * system.n, "Q", "r x n");
  for (const double a : system.A)
    if (!(a < 0))
      throw std::invalid_argument("latent system: A holds " + std::to_string(a) +
                                  ", but every A must be below 0, or its state never comes to rest");
}

TokenFactors token_factors(std::span<const double> A, const StateUpdate& update) {
  if (update.form == UpdateForm::continuous)
    throw std::invalid_argument("latent system: a token's factors belong to the forms euler and etd, not continuous");
  if (!(update.dt > 0) || !std::isfinite(update.dt))
    throw std::invalid_argument("latent system: dt is " + std::to_string(update.dt) +
                                ", but it must be above 0 and finite");
  TokenFactors factors;
  for (const double a : A) {
    factors.decay.push_back(std::exp(update.dt * a));
    factors.coupling.push_back(update.form == UpdateForm::euler || a == 0 ? update.dt : std::expm1(update.dt * a) / a);
  }
  return factors;
}

AffineField full_field(const LatentSystem& system, std::span<const double> b, const StateUpdate& update) {
  check_system(system);
  check_vector(b, system.n, "b");
  const std::int64_t n = system.n;
  const Rates rates_of = rates(system, update);
  AffineField field{n,
                    multiply(scaled_rows(system.P, rates_of.coupling), n, system.r, system.Q, n),
                    {b.begin(), b.end()},
                    rates_of.kind};
  for (std::int64_t i = 0; i < n; ++i) {
    field.J[i * n + i] += rates_of.rate[i];
    field.c[i] *= rates_of.input;
  }
  return field;
}

AffineField steady_state_field(const LatentSystem& system, std::span<const double> b, const StateUpdate& update) {
  check_system(system);
  check_vector(b, system.n, "b");
  const std::int64_t n = system.n, r = system.r;
  const Rates rates_of = rates(system, update);
  std::vector<double> coupling(n), input(n);
  for (std::int64_t i = 0; i < n; ++i) {
    coupling[i] = -rates_of.coupling[i] / rates_of.rate[i];
    input[i] = -rates_of.input / rates_of.rate[i] * b[i];
  }
  AffineField field{r, multiply(system.Q, r, n, scaled_rows(system.P, coupling), r), multiply(system.Q, r, n, input, 1),
                    FieldKind::velocity};
  for (std::int64_t i = 0; i < r; ++i) field.J[i * r + i] -= 1;
  return field;
}

AffineField minimum_change_field(const LatentSystem& system, std::span<const double> b, std::span<const double> h,
                                 const StateUpdate& update) {
  check_system(system);
  check_vector(b, system.n, "b");
  check_vector(h, system.n, "h");
  const std::int64_t n = system.n, r = system.r;
  const Rates rates_of = rates(system, update);
  const std::vector<double> lift = pseudo_inverse(system.Q, r, n).matrix;
  const std::vector<double> moved = scaled_rows(lift, rates_of.rate),
                            coupled = scaled_rows(system.P, rates_of.coupling);
  std::vector<double> inside(n * r), constant(n);
  std::ranges::transform(moved, coupled, inside.begin(), std::plus());
  // What of h the lift does not see stays: h - Q^+ Q h.
  const std::vector<double> seen = multiply(lift, n, r, read_state(system, h), 1);
  for (std::int64_t i = 0; i < n; ++i) constant[i] = rates_of.rate[i] * (h[i] - seen[i]) + rates_of.input * b[i];
  return {r, multiply(system.Q, r, n, inside, r), multiply(system.Q, r, n, constant, 1), rates_of.kind};
}

AffineField minimum_norm_field(const LatentSystem& system, std::span<const double> b, const StateUpdate& update) {
  return minimum_change_field(system, b, std::vector<double>(std::max<std::int64_t>(system.n, 0)), update);
}

std::vector<double> read_state(const LatentSystem& system, std::span<const double> h) {
  return multiply(system.Q, system.r, system.n, h, 1);
}

}  // namespace mambarium
