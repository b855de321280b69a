// The products that a scan in chunks is made of (chunked_scan-inl.h says how they fit together), compiled once per SIMD
// target. Include after hwy/foreach_target.h.
//
// A chunk is as many tokens as a vector has lanes, so that a vector holds one number of every token of the chunk. Two
// layouts: rows, [token][column], and columns, [column][lanes], which is their transpose; products that sum over states
// or channels work on columns, products that sum over tokens on rows, and nothing sums across lanes. Rows must be
// readable, and states are padded, to a multiple of lanes.

#if defined(MAMBARIUM_KERNELS_SCAN_CHUNK_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_SCAN_CHUNK_PRODUCTS_INL_H_
#undef MAMBARIUM_KERNELS_SCAN_CHUNK_PRODUCTS_INL_H_
#else
#define MAMBARIUM_KERNELS_SCAN_CHUNK_PRODUCTS_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "core/kernels/rows.h"
#include "core/kernels/scan/ahead.h"
#include "core/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t chunk = lanes;

// work(first, how many as a constant) for blocks of R, then of R / 2, ... that cover begin .. end - 1.
template <int R, class Work>
HWY_INLINE void InBlocks(std::int64_t begin, std::int64_t end, const Work& work) {
  for (; begin + R <= end; begin += R) work(begin, std::integral_constant<int, R>());
  if constexpr (R > 1) InBlocks<R / 2>(begin, end, work);
}

// Lane j of vector i becomes lane i of vector j.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void Transpose(D, V*) {}
#else
HWY_INLINE void Transpose(D d, V* v) {
  static_assert(lanes == 4 || lanes == 8 || lanes == 16);
#pragma GCC unroll 4
  for (int i = 0; i < lanes; i += 4) {  // inside each block of four lanes
    const V low02 = hn::InterleaveLower(d, v[i], v[i + 2]), high02 = hn::InterleaveUpper(d, v[i], v[i + 2]);
    const V low13 = hn::InterleaveLower(d, v[i + 1], v[i + 3]), high13 = hn::InterleaveUpper(d, v[i + 1], v[i + 3]);
    v[i] = hn::InterleaveLower(d, low02, low13);
    v[i + 1] = hn::InterleaveUpper(d, low02, low13);
    v[i + 2] = hn::InterleaveLower(d, high02, high13);
    v[i + 3] = hn::InterleaveUpper(d, high02, high13);
  }
  if constexpr (lanes >= 8) {  // halves
#pragma GCC unroll 8
    for (int i = 0; i < lanes / 2; ++i) {
      const V low = v[i], high = v[i + lanes / 2];
      v[i] = hn::ConcatLowerLower(d, high, low);
      v[i + lanes / 2] = hn::ConcatUpperUpper(d, high, low);
    }
  }
  if constexpr (lanes == 16) {  // blocks inside the halves
#pragma GCC unroll 2
    for (int half = 0; half < lanes; half += 8) {
#pragma GCC unroll 4
      for (int i = half; i < half + 4; ++i) {
        const V even = v[i], odd = v[i + 4];
        v[i] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd), even);
        v[i + 4] = hn::OddEvenBlocks(odd, hn::SwapAdjacentBlocks(even));
      }
    }
  }
}
#endif

inline void ToColumns(D d, Strided<const float> rows, std::int64_t width, float* columns) {
  for (std::int64_t c = 0; c < width; c += lanes) {
    V v[lanes];
#pragma GCC unroll 16
    for (int t = 0; t < lanes; ++t) v[t] = hn::LoadU(d, rows.row(t) + c);
    Transpose(d, v);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) hn::Store(v[i], d, columns + (c + i) * lanes);
  }
}

// products[s][t] = sum over columns of left[s] right[t]: what token s wrote, as token t reads it. left in rows, right
// in columns.
inline void InnerProducts(D d, Strided<const float> left, const float* right, std::int64_t width, float* products) {
  InBlocks<8>(0, lanes, [&](std::int64_t first, auto count) HWY_ATTR {
    constexpr int R = count();
    const float* rows = left.row(first);
    V sum[R];
#pragma GCC unroll 8
    for (int s = 0; s < R; ++s) sum[s] = hn::Zero(d);
    for (std::int64_t c = 0; c < width; ++c) {
      const V column = hn::Load(d, right + c * lanes);
#pragma GCC unroll 8
      for (int s = 0; s < R; ++s) sum[s] = hn::MulAdd(hn::Set(d, rows[s * left.stride + c]), column, sum[s]);
    }
#pragma GCC unroll 8
    for (int s = 0; s < R; ++s) hn::Store(sum[s], d, products + (first + s) * lanes);
  });
}

// into[p] = weight * r[p], where r[p] = sum over n of state[p][n] columns[n], for R rows of the state; what sum over p
// of r[p] others[p] comes to is added to `met`. All but the state in columns.
template <int R>
HWY_INLINE void StateColumns(D d, const float* state, std::int64_t stride, std::int64_t states, const float* columns,
                             V weight, const float* others, float* into, V& met, Ahead& ahead) {
  V sum[R];
#pragma GCC unroll 8
  for (int p = 0; p < R; ++p) sum[p] = hn::Zero(d);
  for (std::int64_t n = 0; n < states; ++n) {
    ahead.Next();
    const V column = hn::Load(d, columns + n * lanes);
#pragma GCC unroll 8
    for (int p = 0; p < R; ++p) sum[p] = hn::MulAdd(hn::Set(d, state[p * stride + n]), column, sum[p]);
  }
#pragma GCC unroll 8
  for (int p = 0; p < R; ++p) {
    met = hn::MulAdd(sum[p], hn::Load(d, others + p * lanes), met);
    hn::Store(hn::Mul(weight, sum[p]), d, into + p * lanes);
  }
}

// out[p][n] = decay * in[p][n] + sum over tokens of left[t][p] right[t][n], for R rows and N vectors of the state.
template <int R, int N>
HWY_INLINE void AdvanceBlock(D d, Strided<const float> left, Strided<const float> right, float decay, const float* in,
                             float* out, std::int64_t stride, Ahead& ahead) {
  V sum[R * N];
  const V factor = hn::Set(d, decay);
#pragma GCC unroll 16
  for (int i = 0; i < R * N; ++i) sum[i] = hn::Mul(factor, hn::Load(d, in + i / N * stride + i % N * lanes));
  const float *l = left.data, *r = right.data;
  for (int t = 0; t < lanes; ++t, l += left.stride, r += right.stride) {
    ahead.Next();
    V row[N];
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) row[n] = hn::LoadU(d, r + n * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < R * N; ++i) sum[i] = hn::MulAdd(hn::Set(d, l[i / N]), row[i % N], sum[i]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < R * N; ++i) hn::Store(sum[i], d, out + i / N * stride + i % N * lanes);
}

// The same for a whole state, its rows padded to whole vectors; in and out may be one.
inline void Advance(D d, Strided<const float> left, Strided<const float> right, float decay, std::int64_t rows,
                    std::int64_t width, const float* in, float* out, std::int64_t stride, Ahead& ahead) {
  constexpr int most = lanes == 16 ? 4 : 2;  // vectors at once
  InBlocks<most>(0, WholeVectors(width) / lanes, [&](std::int64_t vector, auto count) HWY_ATTR {
    constexpr int N = count(), R = lanes == 16 ? (N == 4 ? 4 : 8) : (N == 2 ? 4 : 8);
    const std::int64_t n = vector * lanes;
    InBlocks<R>(0, rows, [&](std::int64_t p, auto block) HWY_ATTR {
      AdvanceBlock<block(), N>(d, left.columns(p), right.columns(n), decay, in + p * stride + n, out + p * stride + n,
                               stride, ahead);
    });
  });
}

// What the tokens of a chunk have of each other: with rows[.] a row per token, token t gets
//   earlier: sum over s <= t of weights[s][t] rows[s]
//   later:   sum over s >= t of weights[t][s] rows[s]
enum class Adds { earlier, later };

// For tokens first .. first + T - 1 and N vectors of columns from c on.
template <Adds adds, int T, int N>
HWY_INLINE void AddTokens(D d, const float* weights, Strided<const float> rows, std::int64_t c, int first, V* sum) {
  constexpr bool earlier = adds == Adds::earlier;
  constexpr int step = earlier ? 1 : static_cast<int>(lanes), past = earlier ? static_cast<int>(lanes) : 1;
  weights += first * step;
  for (int from = earlier ? 0 : first + T; from < (earlier ? first : static_cast<int>(lanes)); ++from) {
    V row[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) row[n] = hn::LoadU(d, rows.row(from) + c + n * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < T * N; ++i) {
      sum[i] = hn::MulAdd(hn::Set(d, weights[from * past + i / N * step]), row[i % N], sum[i]);
    }
  }
#pragma GCC unroll 16
  for (int k = 0; k < T; ++k) {
    V row[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) row[n] = hn::LoadU(d, rows.row(first + k) + c + n * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < T * N; ++i) {
      if (earlier ? k <= i / N : i / N <= k) {
        sum[i] = hn::MulAdd(hn::Set(d, weights[(first + k) * past + i / N * step]), row[i % N], sum[i]);
      }
    }
  }
}

template <int T, int N>
HWY_INLINE void StoreTokens(D d, const V* sum, Strided<float> out, std::int64_t c, std::int64_t width, int first,
                            std::int64_t tokens) {
#pragma GCC unroll 16
  for (int i = 0; i < T * N; ++i) {
    const std::int64_t column = c + i % N * lanes;
    if (first + i / N < tokens) StoreUpTo(sum[i], d, out.row(first + i / N) + column, std::min(lanes, width - column));
  }
}

// Columns become rows and get what the tokens have of each other. `tokens` rows are written.
template <Adds adds>
inline void StoreRows(D d, const float* columns, const float* weights, Strided<const float> rows, std::int64_t width,
                      Strided<float> out, std::int64_t tokens) {
  for (std::int64_t c = 0; c < width; c += lanes) {
    V v[lanes];
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) v[i] = hn::Load(d, columns + (c + i) * lanes);
    Transpose(d, v);
    AddTokens<adds, static_cast<int>(lanes), 1>(d, weights, rows, c, 0, v);
    StoreTokens<static_cast<int>(lanes), 1>(d, v, out, c, width, 0, tokens);
  }
}

// out[t] = sums[t] + factors[t] r[t] + what the tokens have of each other, where r[t] = sum over k < depth of
// left[k][t] state[k]: left in columns, the rest in rows. With several heads the result gathers in `sums`, rows of
// whole vectors, until the last of them. `met`, where wanted, receives the products r[t] others[t], lane by lane.
struct StateRowsOf {
  const float *left = nullptr, *state = nullptr, *factors = nullptr;
  std::int64_t depth = 0, stride = 0, width = 0;
  bool first = true, last = true;
  Strided<float> sums;
  const float* weights = nullptr;
  Strided<const float> rows;
  Strided<float> out;
  std::int64_t tokens = 0;
};

// T tokens and up to N vectors at once.
template <Adds adds, bool meets, int T, int most>
HWY_INLINE void StateRowsOfTokens(D d, const StateRowsOf& of, Strided<const float> others, float* met, Ahead& ahead) {
  for (int first = 0; first < lanes; first += T) {
    V meeting[T];
#pragma GCC unroll 16
    for (int t = 0; t < T; ++t) meeting[t] = hn::Zero(d);
    InBlocks<most>(0, WholeVectors(of.width) / lanes, [&](std::int64_t vector, auto count) HWY_ATTR {
      constexpr int N = count();
      const std::int64_t c = vector * lanes;
      const float* left = of.left + first;
      const float* state = of.state + c;
      V sum[T * N];
#pragma GCC unroll 16
      for (int i = 0; i < T * N; ++i) sum[i] = hn::Zero(d);
      for (std::int64_t k = 0; k < of.depth; ++k, left += lanes, state += of.stride) {
        ahead.Next();
        V row[N];
#pragma GCC unroll 2
        for (int n = 0; n < N; ++n) row[n] = hn::Load(d, state + n * lanes);
#pragma GCC unroll 16
        for (int i = 0; i < T * N; ++i) sum[i] = hn::MulAdd(hn::Set(d, left[i / N]), row[i % N], sum[i]);
      }
#pragma GCC unroll 16
      for (int i = 0; i < T * N; ++i) {
        const int t = i / N;
        const std::int64_t column = c + i % N * lanes;
        if constexpr (meets) {
          meeting[t] = hn::MulAdd(sum[i], hn::LoadU(d, others.row(first + t) + column), meeting[t]);
        }
        const V factor = hn::Set(d, of.factors[first + t]);
        sum[i] = of.first ? hn::Mul(factor, sum[i])
                          : hn::MulAdd(factor, sum[i], hn::Load(d, of.sums.row(first + t) + column));
        if (!of.last) hn::Store(sum[i], d, of.sums.row(first + t) + column);
      }
      if (of.last) {
        AddTokens<adds, T, N>(d, of.weights, of.rows, c, first, sum);
        StoreTokens<T, N>(d, sum, of.out, c, of.width, first, of.tokens);
      }
    });
    if constexpr (meets) {
#pragma GCC unroll 16
      for (int t = 0; t < T; ++t) hn::Store(meeting[t], d, met + (first + t) * lanes);
    }
  }
}

template <Adds adds, bool meets>
inline void StateRows(D d, const StateRowsOf& of, Strided<const float> others, float* met, Ahead& ahead) {
  constexpr int all = static_cast<int>(lanes);
  if (of.width <= lanes) {
    StateRowsOfTokens<adds, meets, all, 1>(d, of, others, met, ahead);
  } else {
    StateRowsOfTokens<adds, meets, all == 1 ? 1 : all / 2, 2>(d, of, others, met, ahead);
  }
}

// sums[i] = the sum of the lanes of v[i].
HWY_INLINE void SumEach(D d, const V* v, float* sums) {
  if constexpr (lanes < 4) {
    for (int i = 0; i < lanes; ++i) sums[i] = SumOf(d, v[i]);
  } else {
#pragma GCC unroll 4
    for (int i = 0; i < lanes; i += 4) StoreSums(d, v[i], v[i + 1], v[i + 2], v[i + 3], sums + i, false);
  }
}

// The sum of left times right over rows of `width` numbers, a multiple of lanes.
inline float InnerProduct(D d, const float* left, const float* right, std::int64_t rows, std::int64_t width,
                          std::int64_t stride) {
  V even = hn::Zero(d), odd = even;
  for (std::int64_t row = 0; row < rows; ++row, left += stride, right += stride) {
    V& sum = row % 2 == 0 ? even : odd;
    for (std::int64_t c = 0; c < width; c += lanes)
      sum = hn::MulAdd(hn::Load(d, left + c), hn::Load(d, right + c), sum);
  }
  return SumOf(d, hn::Add(even, odd));
}

// rows[t][.] times factors[t].
inline void ScaleRows(D d, Strided<const float> rows, std::int64_t width, const float* factors, Strided<float> out) {
  for (int t = 0; t < lanes; ++t) {
    const V factor = hn::Set(d, factors[t]);
    for (std::int64_t c = 0; c < width; c += lanes) {
      hn::Store(hn::Mul(factor, hn::LoadU(d, rows.row(t) + c)), d, out.row(t) + c);
    }
  }
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_SCAN_CHUNK_PRODUCTS_INL_H_
