#include "core/models/wkv.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mambarium {

namespace {

// Below every exponent that a key can have, and far from where subtracting overflows.
template <class Real>
constexpr Real nothing_yet = Real(-1e30);

double exp_of_nonpositive(double x) {
  return std::exp(x);
}

// Without branches or calls, so that compilers turn the loops around it into vector code. 2^n e^r with |r| <= ln(2)/2;
// adding and subtracting 1.5 2^23 rounds to the nearest integer. What is below 2^-126 becomes 2^-126.
float exp_of_nonpositive(float x) {
  constexpr float log2e = 1.44269504f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f, to_integer = 12582912.0f;
  const float bounded = x < -87.0f ? -87.0f : x;
  const float n = bounded * log2e + to_integer - to_integer;
  const float r = (bounded - n * ln2_high) - n * ln2_low;
  float sum = 1.0f / 5040;
  sum = sum * r + 1.0f / 720;
  sum = sum * r + 1.0f / 120;
  sum = sum * r + 1.0f / 24;
  sum = sum * r + 1.0f / 6;
  sum = sum * r + 0.5f;
  sum = sum * r * r + r + 1.0f;
  return sum * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

// Two terms e^first and e^second, divided by the greater of them.
template <class Real>
struct Weights {
  Real first, second, exponent;
};

template <class Real>
inline Weights<Real> weights(Real first, Real second) {
  const Real difference = first - second;
  const Real lesser = exp_of_nonpositive(-std::abs(difference));
  const bool is_first = difference > 0;
  return {is_first ? Real(1) : lesser, is_first ? lesser : Real(1), is_first ? first : second};
}

template <class Real>
void start(const WkvShape& shape, const Real* from, Real* state) {
  const std::int64_t sums = 2 * shape.channels;
  if (from == nullptr) {
    std::fill_n(state, sums, Real(0));
    std::fill_n(state + sums, shape.channels, nothing_yet<Real>);
  } else if (from != state) {
    std::copy_n(from, sums + shape.channels, state);
  }
}

template <class Real>
void token(std::int64_t channels, const Real* __restrict k, const Real* __restrict v, const Real* __restrict w,
           const Real* __restrict u, Real* __restrict state, Real* __restrict y) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const Real a = state[c], b = state[channels + c], p = state[2 * channels + c];
    const auto out = weights(p, u[c] + k[c]);
    y[c] = (out.first * a + out.second * v[c]) / (out.first * b + out.second);
    const auto next = weights(p - w[c], k[c]);
    state[c] = next.first * a + next.second * v[c];
    state[channels + c] = next.first * b + next.second;
    state[2 * channels + c] = next.exponent;
  }
}

// token() without its y, from one state to the next.
template <class Real>
void advance(std::int64_t channels, const Real* __restrict k, const Real* __restrict v, const Real* __restrict w,
             const Real* __restrict before, Real* __restrict after) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto next = weights(before[2 * channels + c] - w[c], k[c]);
    after[c] = next.first * before[c] + next.second * v[c];
    after[channels + c] = next.first * before[channels + c] + next.second;
    after[2 * channels + c] = next.exponent;
  }
}

// Gradients of one token, whose state is `before`. sums [4][C]: what the loss grows by with a and b after the token,
// and with w and u so far; a and b go out for those before it. p is held, see WkvGradients.
template <class Real>
void token_backward(std::int64_t channels, const Real* __restrict k, const Real* __restrict v,
                    const Real* __restrict w_and_u, const Real* __restrict before, const Real* __restrict dy,
                    Real* __restrict dk, Real* __restrict dv, Real* __restrict sums) {
  const Real *const w = w_and_u, *const u = w + channels;
  const Real *const a = before, *const b = a + channels, *const p = b + channels;
  Real *const da = sums, *const db = da + channels, *const dw = db + channels, *const du = dw + channels;
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto out = weights(p[c], u[c] + k[c]);
    const Real scale = dy[c] / (out.first * b[c] + out.second);
    const Real y = (out.first * a[c] + out.second * v[c]) / (out.first * b[c] + out.second);
    const Real own = out.second * scale * (v[c] - y);
    const auto next = weights(p[c] - w[c], k[c]);
    du[c] += own;
    dk[c] = own + next.second * (v[c] * da[c] + db[c]);
    dv[c] = out.second * scale + next.second * da[c];
    dw[c] -= next.first * (a[c] * da[c] + b[c] * db[c]);
    da[c] = next.first * da[c] + out.first * scale;
    db[c] = next.first * db[c] - out.first * scale * y;
  }
}

}  // namespace

template <class Real>
void wkv(const WkvShape& shape, const WkvInputs<Real>& in, Real* y, Real* last_state) {
  const std::int64_t channels = shape.channels;
  start(shape, in.state, last_state);
  for (std::int64_t t = 0; t < shape.length; ++t)
    token(channels, in.k + t * channels, in.v + t * channels, in.w, in.u, last_state, y + t * channels);
}

std::int64_t wkv_scratch(const WkvShape& shape) {
  return (3 * shape.length + 6) * shape.channels;
}

template <class Real>
void wkv_backward(const WkvShape& shape, const WkvInputs<Real>& in, const Real* dy, const Real* dstate,
                  const WkvGradients<Real>& out, Real* scratch) {
  const std::int64_t channels = shape.channels, state = 3 * channels;
  Real* const states = scratch;  // [T][3][C]: before each token
  Real* const w_and_u = states + shape.length * state;
  Real* const sums = w_and_u + 2 * channels;
  std::copy_n(in.w, channels, w_and_u);
  std::copy_n(in.u, channels, w_and_u + channels);
  std::fill_n(sums, 4 * channels, Real(0));
  if (dstate != nullptr) std::copy_n(dstate, 2 * channels, sums);

  start(shape, in.state, states);
  for (std::int64_t t = 0; t + 1 < shape.length; ++t)
    advance(channels, in.k + t * channels, in.v + t * channels, in.w, states + t * state, states + (t + 1) * state);
  for (std::int64_t t = shape.length - 1; t >= 0; --t) {
    const std::int64_t row = t * channels;
    token_backward(channels, in.k + row, in.v + row, w_and_u, states + t * state, dy + row, out.k + row, out.v + row,
                   sums);
  }
  std::copy_n(sums + 2 * channels, channels, out.w);
  std::copy_n(sums + 3 * channels, channels, out.u);
  if (out.state == nullptr) return;
  std::copy_n(sums, 2 * channels, out.state);
  std::fill_n(out.state + 2 * channels, channels, Real(0));
}

template void wkv(const WkvShape&, const WkvInputs<float>&, float*, float*);
template void wkv(const WkvShape&, const WkvInputs<double>&, double*, double*);
template void wkv_backward(const WkvShape&, const WkvInputs<float>&, const float*, const float*,
                           const WkvGradients<float>&, float*);
template void wkv_backward(const WkvShape&, const WkvInputs<double>&, const double*, const double*,
                           const WkvGradients<double>&, double*);

}  // namespace mambarium
