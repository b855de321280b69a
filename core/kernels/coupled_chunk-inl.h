// The coupled scan (coupled_scan.h) of a vector of channels, with all their states, over one chunk of tokens: forward,
// and backward from the states before the chunk. Compiled once per SIMD target (Highway); include after
// hwy/foreach_target.h.
//
// Arithmetic of what diagonal_scan does too is in its order, so that a chunk that is not coupled gives its bits.
// The rank is a template argument where the compiler should keep z in registers; 0 stands for any.
//
// etd takes one exponential: with A' = A, rates next to 0 set to least_rate, and w = (P / A') z,
//   h_t = exp(dt A') . h_{t-1} + (exp(dt A') - 1) . w + dt x B
// and both factors come of one range reduction. Backward, kept = exp(dt A') . g and b = h_{t-1} + w stand for euler's
// kept and h_{t-1}: ddt += A' kept b, dA += dt kept b - (phi g) w, of which the last sum is that of dP (SumCoupling).
// Where A' is small that difference cancels, and dA is taken from phi's derivative (CouplingSlope) instead.

#if defined(MAMBARIUM_KERNELS_COUPLED_CHUNK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_COUPLED_CHUNK_INL_H_
#undef MAMBARIUM_KERNELS_COUPLED_CHUNK_INL_H_
#else
#define MAMBARIUM_KERNELS_COUPLED_CHUNK_INL_H_
#endif

#include <cstdint>

#include "core/kernels/coupled_scan.h"
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t group_states = 4;  // states whose sums over channels are stored together

inline constexpr float least_rate = -1e-16f;     // no step of less than 3e8 tells it from 0
inline constexpr float slowest_rate = -0.0625f;  // above it CouplingSlope is needed

// Everything is packed, a vector of channels after the other: per token (dt ... ddt), per state (A, rate, inverse), per
// state and rank (P, Q), per token and rank (latents, into_latents). `states` is padded to whole groups with zeros.
struct CoupledChunk {
  std::int64_t length = 0, states = 0, rank = 0;
  bool slow = false;  // some rate is above slowest_rate
  Strided<const float> B, C;
  float *A = nullptr, *Q = nullptr;
  float *rate = nullptr, *inverse = nullptr;            // etd: A', 1 / A'; euler: A
  float* P = nullptr;                                   // etd: P / A'
  float *dt = nullptr, *x = nullptr, *input = nullptr;  // input: dt x
  float *y = nullptr, *dx = nullptr, *ddt = nullptr;    // y is dL/dy in the backward pass
  float* latents = nullptr;                             // z before each token, and after the last
  float* into_latents = nullptr;                        // dL/dz before each token
};

template <int rank_>
struct Latents {
  static constexpr std::size_t room = rank_ == 0 ? static_cast<std::size_t>(largest_coupling_rank) : rank_;
  V at[room];
};

// dt exp(x) - phi for x = dt A', which is A' times phi's derivative by A. Down to -1/4 it is dt x times the derivative
// of (exp(x) - 1) / x, a polynomial (error 2e-7).
HWY_INLINE V CouplingSlope(D d, V dt, V x, V decay, V phi) {
  V slope = hn::Set(d, 0.0300572053f);
  for (const float coefficient : {0.124497391f, 0.333308386f, 0.499999805f}) {
    slope = hn::MulAdd(slope, x, hn::Set(d, coefficient));
  }
  const V near = hn::Mul(hn::Mul(dt, x), slope), far = hn::MulSub(dt, decay, phi);
  return hn::IfThenElse(hn::Ge(x, hn::Set(d, -0.25f)), near, far);
}

// z = Q h, in the order in which Advance sums it.
template <int rank_>
HWY_INLINE void ReadLatents(D d, const CoupledChunk& chunk, const float* h, float* z) {
  const std::int64_t rank = rank_ == 0 ? chunk.rank : rank_;
  for (std::int64_t j = 0; j < rank; ++j) {
    V even = hn::Zero(d), odd = hn::Zero(d);
    for (std::int64_t n = 0; n < chunk.states; n += 2) {
      even = hn::MulAdd(hn::Load(d, chunk.Q + (n * rank + j) * lanes), hn::Load(d, h + n * lanes), even);
      odd = hn::MulAdd(hn::Load(d, chunk.Q + ((n + 1) * rank + j) * lanes), hn::Load(d, h + (n + 1) * lanes), odd);
    }
    hn::Store(hn::Add(even, odd), d, z + j * lanes);
  }
}

// One token: from the states `before` to `after` (may be the same), from its latents to the next ones. decays, where
// wanted, receives exp(dt A), and with etd growths exp(dt A') - 1. Not coupled: P is 0.
template <int rank_, CouplingForm form, bool coupled, bool with_output>
HWY_INLINE void Advance(D d, const CoupledChunk& chunk, std::int64_t t, const float* before, float* after,
                        float* decays, [[maybe_unused]] float* growths) {
  constexpr bool etd = form == CouplingForm::etd;
  const std::int64_t rank = rank_ == 0 ? chunk.rank : rank_;
  const V dt = hn::Load(d, chunk.dt + t * lanes), input = hn::Load(d, chunk.input + t * lanes);
  const float* B = chunk.B.row(t);
  [[maybe_unused]] const float* C = with_output ? chunk.C.row(t) : nullptr;
  float* z = chunk.latents + t * rank * lanes;
  Latents<rank_> written, even, odd;
  for (std::int64_t j = 0; j < rank; ++j) {
    const V read = hn::Load(d, z + j * lanes);
    written.at[j] = etd ? read : hn::Mul(dt, read);
    even.at[j] = hn::Zero(d);
    odd.at[j] = hn::Zero(d);
  }
  V y = hn::Zero(d);
  for (std::int64_t n = 0; n < chunk.states; n += group_states) {
    V h[group_states];
#pragma GCC unroll 4
    for (int i = 0; i < group_states; ++i) {
      const std::int64_t state = n + i;
      const V x = hn::Mul(dt, hn::Load(d, chunk.rate + state * lanes));
      [[maybe_unused]] V growth;
      V a;
      if constexpr (etd) {
        a = ExpOfNegative(d, x, growth);
      }
      if constexpr (!(etd && coupled)) {
        a = ExpOfNegative(d, x);
      }
      const V earlier = hn::Load(d, before + state * lanes);
      if constexpr (coupled) {
        // Small numbers first: a state that remembers everything is rounded once.
        const float* P = chunk.P + state * rank * lanes;
        V added = hn::Mul(input, hn::Set(d, B[state]));
        if constexpr (etd) {
          V w = hn::Mul(hn::Load(d, P), written.at[0]);
          for (std::int64_t j = 1; j < rank; ++j) {
            w = hn::MulAdd(hn::Load(d, P + j * lanes), written.at[j], w);
          }
          added = hn::MulAdd(growth, w, added);
        } else {
          for (std::int64_t j = 0; j < rank; ++j) {
            added = hn::MulAdd(hn::Load(d, P + j * lanes), written.at[j], added);
          }
        }
        h[i] = hn::MulAdd(a, earlier, added);
      } else {
        h[i] = hn::MulAdd(input, hn::Set(d, B[state]), hn::Mul(a, earlier));
      }
      hn::Store(h[i], d, after + state * lanes);
      if (decays != nullptr) {
        hn::Store(a, d, decays + state * lanes);
        if constexpr (etd) {
          hn::Store(growth, d, growths + state * lanes);
        }
      }
      Latents<rank_>& sums = i % 2 == 0 ? even : odd;
      for (std::int64_t j = 0; j < rank; ++j) {
        sums.at[j] = hn::MulAdd(hn::Load(d, chunk.Q + (state * rank + j) * lanes), h[i], sums.at[j]);
      }
    }
    if constexpr (with_output) {
      V evens = y, odds = hn::Zero(d);
#pragma GCC unroll 2
      for (int i = 0; i < group_states; i += 2) {
        evens = hn::MulAdd(h[i], hn::Set(d, C[n + i]), evens);
        odds = hn::MulAdd(h[i + 1], hn::Set(d, C[n + i + 1]), odds);
      }
      y = hn::Add(evens, odds);
    }
  }
  for (std::int64_t j = 0; j < rank; ++j) {
    hn::Store(hn::Add(even.at[j], odd.at[j]), d, z + (rank + j) * lanes);
  }
  if constexpr (with_output) {
    hn::Store(y, d, chunk.y + t * lanes);
  }
}

template <int rank_, CouplingForm form, bool coupled>
void ForwardChunk(const CoupledChunk& given, float* h) {
  const D d;
  const CoupledChunk chunk = given;  // what is stored cannot change its pointers
  ReadLatents<rank_>(d, chunk, h, chunk.latents);
  for (std::int64_t t = 0; t < chunk.length; ++t) {
    Advance<rank_, form, coupled, true>(d, chunk, t, h, h, nullptr, nullptr);
  }
}

// What one token sends back. g is dL/dh after the token and becomes what its decay lets through of it; what reaches
// the states before it through z is left in into_latents[t], and is added where `later` (the token after it) is not
// null. `weights` receives g (etd: A' phi . g), the factor of z in dL/dP; it is the place of the decays (etd: of
// exp(dt A') - 1).
template <int rank_, CouplingForm form, bool coupled, bool slow>
HWY_INLINE void Retreat(D d, const CoupledChunk& chunk, std::int64_t t, const float* states, const float* decays,
                        float* weights, float* g, float* into_A, const Strided<float>& dB, const Strided<float>& dC,
                        bool first) {
  constexpr bool etd = form == CouplingForm::etd;
  const std::int64_t rank = rank_ == 0 ? chunk.rank : rank_;
  const std::int64_t size = chunk.states * lanes;
  const float *before = states + t * size, *after = before + size;
  const float *a = decays + t * size, *rates = etd && coupled ? chunk.rate : chunk.A;
  const float *B = chunk.B.row(t), *C = chunk.C.row(t);
  const V dt = hn::Load(d, chunk.dt + t * lanes), x = hn::Load(d, chunk.x + t * lanes);
  const V input = hn::Load(d, chunk.input + t * lanes), dy = hn::Load(d, chunk.y + t * lanes);
  const float* z = chunk.latents + t * rank * lanes;
  const float* from_later = chunk.into_latents + (t + 1) * rank * lanes;
  Latents<rank_> later, even, odd;
  [[maybe_unused]] Latents<rank_> read;
  for (std::int64_t j = 0; j < rank; ++j) {
    later.at[j] = hn::Load(d, from_later + j * lanes);
    read.at[j] = hn::Load(d, z + j * lanes);
    even.at[j] = hn::Zero(d);
    odd.at[j] = hn::Zero(d);
  }
  V dx = hn::Zero(d), ddt = hn::Zero(d);
  for (std::int64_t n = 0; n < chunk.states; n += group_states) {
    V into_input = hn::Zero(d), into_exponents = hn::Zero(d);
    V into_B[group_states], into_C[group_states];
#pragma GCC unroll 4
    for (int i = 0; i < group_states; ++i) {
      into_C[i] = hn::Mul(dy, hn::Load(d, after + (n + i) * lanes));
    }
    StoreSums(d, into_C[0], into_C[1], into_C[2], into_C[3], dC.row(t) + n, !first);
#pragma GCC unroll 4
    for (int i = 0; i < group_states; ++i) {
      const std::int64_t state = n + i;
      V gn = hn::Load(d, g + state * lanes);
      if constexpr (coupled) {
        for (std::int64_t j = 0; j < rank; ++j) {
          gn = hn::MulAdd(hn::Load(d, chunk.Q + (state * rank + j) * lanes), later.at[j], gn);
        }
      }
      gn = hn::MulAdd(dy, hn::Set(d, C[state]), gn);
      into_B[i] = hn::Mul(gn, input);
      into_input = hn::MulAdd(gn, hn::Set(d, B[state]), into_input);
      const V decay = hn::Load(d, a + state * lanes), A = hn::Load(d, rates + state * lanes);
      const V kept = hn::Mul(gn, decay);
      const float* P = chunk.P + state * rank * lanes;
      V earlier = hn::Load(d, before + state * lanes), weighted = gn;
      V sum_A = hn::Load(d, into_A + state * lanes);
      if constexpr (etd) {
        const V growth = hn::Load(d, weights + t * size + state * lanes);
        weighted = hn::Mul(gn, growth);
        if constexpr (coupled) {
          if constexpr (slow) {
            V w = hn::Mul(hn::Load(d, P), read.at[0]);
            for (std::int64_t j = 1; j < rank; ++j) {
              w = hn::MulAdd(hn::Load(d, P + j * lanes), read.at[j], w);
            }
            const V phi = hn::Mul(growth, hn::Load(d, chunk.inverse + state * lanes));
            sum_A = hn::MulAdd(hn::Mul(gn, w), CouplingSlope(d, dt, hn::Mul(dt, A), decay, phi), sum_A);
            sum_A = hn::MulAdd(hn::Mul(kept, earlier), dt, sum_A);
            earlier = hn::Add(earlier, w);
          } else {
            for (std::int64_t j = 0; j < rank; ++j) {
              earlier = hn::MulAdd(hn::Load(d, P + j * lanes), read.at[j], earlier);
            }
          }
        }
      }
      const V into_exponent = hn::Mul(kept, earlier);
      into_exponents = hn::MulAdd(into_exponent, A, into_exponents);
      if constexpr (!(etd && coupled && slow)) {
        sum_A = hn::MulAdd(into_exponent, dt, sum_A);
      }
      hn::Store(sum_A, d, into_A + state * lanes);
      hn::Store(kept, d, g + state * lanes);
      hn::Store(weighted, d, weights + t * size + state * lanes);
      Latents<rank_>& sums = i % 2 == 0 ? even : odd;
      for (std::int64_t j = 0; j < rank; ++j) {
        sums.at[j] = hn::MulAdd(hn::Load(d, P + j * lanes), weighted, sums.at[j]);
      }
    }
    StoreSums(d, into_B[0], into_B[1], into_B[2], into_B[3], dB.row(t) + n, !first);
    dx = hn::MulAdd(into_input, dt, dx);
    ddt = hn::MulAdd(into_input, x, hn::Add(into_exponents, ddt));
  }
  for (std::int64_t j = 0; j < rank; ++j) {
    V into_z = hn::Add(even.at[j], odd.at[j]);
    if constexpr (!etd) {
      if constexpr (coupled) {
        ddt = hn::MulAdd(into_z, read.at[j], ddt);
      }
      into_z = hn::Mul(into_z, dt);
    }
    hn::Store(into_z, d, chunk.into_latents + (t * rank + j) * lanes);
  }
  hn::Store(dx, d, chunk.dx + t * lanes);
  hn::Store(ddt, d, chunk.ddt + t * lanes);
}

// dP[n][j] += sum_t weighted_t[n] z_t[j] (etd: over A') and dQ[n][j] += sum_t into_z_t[j] h_t[n] over some tokens, for
// `pair` values of j at a time. etd: and what into_A lacks of the coupling, -<P, dP> / A'.
template <int pair, CouplingForm form, bool coupled>
HWY_INLINE void SumCoupling(D d, const CoupledChunk& chunk, std::int64_t begin, std::int64_t end, std::int64_t j,
                            const float* states, const float* weighted, [[maybe_unused]] float* into_A,
                            const Strided<float>& dP, const Strided<float>& dQ) {
  const std::int64_t size = chunk.states * lanes;
  for (std::int64_t n = 0; n < chunk.states; n += group_states) {
    V into_P[group_states * pair], into_Q[group_states * pair];
#pragma GCC unroll 8
    for (int i = 0; i < group_states * pair; ++i) {
      into_P[i] = hn::Zero(d);
      into_Q[i] = hn::Zero(d);
    }
    for (std::int64_t t = begin; t < end; ++t) {
      const float *g = weighted + t * size + n * lanes, *before = states + t * size + n * lanes;
      V z[pair], into_z[pair];
#pragma GCC unroll 2
      for (int k = 0; k < pair; ++k) {
        const std::int64_t at = (t * chunk.rank + j + k) * lanes;
        z[k] = hn::Load(d, chunk.latents + at);
        if constexpr (form == CouplingForm::euler) {
          z[k] = hn::Mul(z[k], hn::Load(d, chunk.dt + t * lanes));
        }
        into_z[k] = hn::Load(d, chunk.into_latents + at);
      }
#pragma GCC unroll 4
      for (int i = 0; i < group_states; ++i) {
        const V gn = hn::Load(d, g + i * lanes), h_before = hn::Load(d, before + i * lanes);
#pragma GCC unroll 2
        for (int k = 0; k < pair; ++k) {
          into_P[i * pair + k] = hn::MulAdd(gn, z[k], into_P[i * pair + k]);
          into_Q[i * pair + k] = hn::MulAdd(h_before, into_z[k], into_Q[i * pair + k]);
        }
      }
    }
    for (int i = 0; i < group_states; ++i) {
      for (int k = 0; k < pair; ++k) {
        const std::int64_t row = (n + i) * chunk.rank + j + k;
        if constexpr (form == CouplingForm::etd) {
          into_P[i * pair + k] = hn::Mul(into_P[i * pair + k], hn::Load(d, chunk.inverse + (n + i) * lanes));
          if (coupled && !chunk.slow) {
            float* sum_A = into_A + (n + i) * lanes;
            hn::Store(hn::NegMulAdd(hn::Load(d, chunk.P + row * lanes), into_P[i * pair + k], hn::Load(d, sum_A)), d,
                      sum_A);
          }
        }
        hn::Store(hn::Add(into_P[i * pair + k], hn::Load(d, dP.row(row))), d, dP.row(row));
        hn::Store(hn::Add(into_Q[i * pair + k], hn::Load(d, dQ.row(row))), d, dQ.row(row));
      }
    }
  }
}

// `states` has room for length + 1 times all states, the first being those before the chunk; decays, and with etd
// growths, for length times, into_A for once. g holds dL/dh after the chunk and becomes dL/dh before it. dA, dP and dQ
// are added to (a row a state, or a state and rank); dB and dC are where not first.
template <int rank_, CouplingForm form, bool coupled>
void BackwardChunk(const CoupledChunk& given, float* states, float* decays, float* growths, float* g, float* into_A,
                   const Strided<float>& dA, const Strided<float>& dB, const Strided<float>& dC,
                   const Strided<float>& dP, const Strided<float>& dQ, bool first) {
  const D d;
  const CoupledChunk chunk = given;
  const std::int64_t rank = rank_ == 0 ? chunk.rank : rank_, size = chunk.states * lanes;
  ReadLatents<rank_>(d, chunk, states, chunk.latents);
  for (std::int64_t t = 0; t < chunk.length; ++t) {
    Advance<rank_, form, coupled, false>(d, chunk, t, states + t * size, states + (t + 1) * size, decays + t * size,
                                         growths + t * size);
  }
  float* weights = form == CouplingForm::etd ? growths : decays;
  std::fill_n(into_A, size, 0.0f);
  std::fill_n(chunk.into_latents + chunk.length * rank * lanes, rank * lanes, 0.0f);
  constexpr std::int64_t tokens_in_cache = 8;  // what Retreat has just read of them is summed at once
  for (std::int64_t end = chunk.length; end > 0; end -= std::min(end, tokens_in_cache)) {
    const std::int64_t begin = std::max<std::int64_t>(end - tokens_in_cache, 0);
    for (std::int64_t t = end - 1; t >= begin; --t) {
      if (form == CouplingForm::etd && coupled && chunk.slow) {
        Retreat<rank_, form, coupled, true>(d, chunk, t, states, decays, weights, g, into_A, dB, dC, first);
      } else {
        Retreat<rank_, form, coupled, false>(d, chunk, t, states, decays, weights, g, into_A, dB, dC, first);
      }
    }
    std::int64_t j = 0;
    for (; j + 2 <= rank; j += 2) {
      SumCoupling<2, form, coupled>(d, chunk, begin, end, j, states, weights, into_A, dP, dQ);
    }
    if (j < rank) {
      SumCoupling<1, form, coupled>(d, chunk, begin, end, j, states, weights, into_A, dP, dQ);
    }
  }
  for (std::int64_t n = 0; n < chunk.states; ++n) {
    hn::Store(hn::Add(hn::Load(d, into_A + n * lanes), hn::Load(d, dA.row(n))), d, dA.row(n));
    V gn = hn::Load(d, g + n * lanes);
    for (std::int64_t j = 0; coupled && j < rank; ++j) {
      gn = hn::MulAdd(hn::Load(d, chunk.Q + (n * rank + j) * lanes), hn::Load(d, chunk.into_latents + j * lanes), gn);
    }
    hn::Store(gn, d, g + n * lanes);
  }
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_COUPLED_CHUNK_INL_H_
