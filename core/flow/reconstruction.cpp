#include "core/flow/reconstruction.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace mambarium {
namespace {

void check_numbers(std::span<const double> values, std::int64_t size, const char* name, const char* shape) {
  if (std::ssize(values) != size)
    throw std::invalid_argument(std::string("replay: ") + name + " holds " + std::to_string(values.size()) +
                                " numbers, but " + shape + " is " + std::to_string(size));
  if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); }))
    throw std::invalid_argument(std::string("replay: ") + name + " holds a number that is not finite");
}

// Returns T.
std::int64_t check(const LatentSystem& system, const ReplayInputs& inputs, std::span<const double> z) {
  check_system(system);
  const std::int64_t tokens = std::ssize(inputs.dt);
  check_numbers(inputs.h0, system.n, "h0", "n");
  check_numbers(inputs.b, tokens * system.n, "b", "T x n");
  check_numbers(z, tokens * system.r, "z", "T x r");
  return tokens;
}

// What token t adds: g . (P z_{t-1}) + dt b.
void drive(const LatentSystem& system, const ReplayInputs& inputs, std::span<const double> z, std::int64_t t,
           const TokenFactors& factors, std::span<double> out) {
  for (std::int64_t i = 0; i < system.n; ++i) {
    double coupled = 0;
    for (std::int64_t k = 0; k < system.r; ++k) coupled += system.P[i * system.r + k] * z[t * system.r + k];
    out[i] = factors.coupling[i] * coupled + inputs.dt[t] * inputs.b[t * system.n + i];
  }
}

// NaN is larger than every number.
bool is_larger(double difference, double largest) {
  return !std::isnan(largest) && !(difference <= largest);
}

}  // namespace

std::vector<double> replay_states(const LatentSystem& system, const ReplayInputs& inputs, std::span<const double> z) {
  const std::int64_t tokens = check(system, inputs, z), n = system.n;
  std::vector<double> states(tokens * n), state = inputs.h0, added(n);
  for (std::int64_t t = 0; t < tokens; ++t) {
    const TokenFactors factors = token_factors(system.A, {inputs.form, inputs.dt[t]});
    drive(system, inputs, z, t, factors, added);
    for (std::int64_t i = 0; i < n; ++i) states[t * n + i] = state[i] = factors.decay[i] * state[i] + added[i];
  }
  return states;
}

std::vector<double> latent_from_history(const LatentSystem& system, const ReplayInputs& inputs,
                                        std::span<const double> z) {
  const std::int64_t tokens = check(system, inputs, z), n = system.n;
  std::vector<double> decay(tokens * n), added(tokens * n);
  for (std::int64_t t = 0; t < tokens; ++t) {
    const TokenFactors factors = token_factors(system.A, {inputs.form, inputs.dt[t]});
    std::ranges::copy(factors.decay, decay.begin() + t * n);
    drive(system, inputs, z, t, factors, std::span(added).subspan(t * n, n));
  }
  std::vector<double> latent, sum(n), reaching(n);
  latent.reserve(tokens * system.r);
  for (std::int64_t t = 0; t < tokens; ++t) {
    std::ranges::fill(sum, 0.0);
    std::ranges::fill(reaching, 1.0);  // Phi(t, s)
    for (std::int64_t s = t; s >= 0; --s)
      for (std::int64_t i = 0; i < n; ++i) {
        sum[i] += reaching[i] * added[s * n + i];
        reaching[i] *= decay[s * n + i];
      }
    for (std::int64_t i = 0; i < n; ++i) sum[i] += reaching[i] * inputs.h0[i];
    const std::vector<double> read = read_state(system, sum);
    latent.insert(latent.end(), read.begin(), read.end());
  }
  return latent;
}

ReplayError replay_error(const LatentSystem& system, const ReplayInputs& inputs, std::span<const double> z,
                         std::span<const double> h) {
  const std::vector<double> replayed = replay_states(system, inputs, z);
  if (h.size() != replayed.size())
    throw std::invalid_argument("replay: the states hold " + std::to_string(h.size()) + " numbers, but T x n is " +
                                std::to_string(replayed.size()));
  ReplayError error;
  error.per_token.resize(inputs.dt.size());
  for (std::int64_t index = 0; index < std::ssize(replayed); ++index) {
    const double difference = std::abs(replayed[index] - h[index]);
    const std::int64_t token = index / system.n;
    error.largest_state = std::max(error.largest_state, std::abs(h[index]));
    if (is_larger(difference, error.per_token[token])) error.per_token[token] = difference;
    if (is_larger(difference, error.largest)) {
      error.largest = difference;
      error.largest_token = token;
    }
  }
  return error;
}

}  // namespace mambarium
