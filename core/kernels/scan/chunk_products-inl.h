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
#include "core/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t chunk = lanes;

inline std::int64_t WholeVectors(std::int64_t width) {
  return (width + lanes - 1) / lanes * lanes;
}

// work(first, how many as a constant) for blocks of R, then of R / 2, ... that cover begin .. end - 1.
template <int R, class Work>
HWY_INLINE void InBlocks(std::int64_t begin, std::int64_t end, const Work& work) {
  for (; begin + R <= end; begin += R) work(begin, std::integral_constant<int, R>());
  if constexpr (R > 1) InBlocks<R / 2>(begin, end, work);
}

// Rows that will be read or written soon, fetched into the second-level cache a line at a time while other work goes
// on: there are more of them at once than the processor foresees by itself, and all at once would hold up everything.
class Ahead {
 public:
  void Clear() { parts_ = part_ = 0; }
  void Add(Strided<const float> rows, std::int64_t begin, std::int64_t end, std::int64_t width) {
    if (begin < end) list_[parts_++] = {rows.row(begin), rows.stride, end - begin, width};
    if (parts_ == 1) Open();
  }
  HWY_INLINE void Next() {
    if (part_ == parts_) return;
    __builtin_prefetch(row_ + column_, 0, 2);
    column_ += 16;
    if (column_ >= width_) {
      column_ = 0;
      row_ += stride_;
      if (--rows_ == 0 && ++part_ < parts_) Open();
    }
  }

 private:
  struct Part {
    const float* row = nullptr;
    std::int64_t stride = 0, rows = 0, width = 0;
  };
  void Open() {
    row_ = list_[part_].row, stride_ = list_[part_].stride, rows_ = list_[part_].rows, width_ = list_[part_].width;
    column_ = 0;
  }
  Part list_[8];
  int parts_ = 0, part_ = 0;
  const float* row_ = nullptr;
  std::int64_t stride_ = 0, rows_ = 0, width_ = 0, column_ = 0;
};

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
inline void InnerProducts(D d, Strided<const float> left, const float* right, std::int64_t width, float* products,
                          Ahead& ahead) {
  InBlocks<8>(0, lanes, [&](std::int64_t first, auto count) HWY_ATTR {
    constexpr int R = count();
    const float* rows = left.row(first);
    V sum[R];
#pragma GCC unroll 8
    for (int s = 0; s < R; ++s) sum[s] = hn::Zero(d);
    for (std::int64_t c = 0; c < width; ++c) {
      ahead.Next();
      const V column = hn::Load(d, right + c * lanes);
#pragma GCC unroll 8
      for (int s = 0; s < R; ++s) sum[s] = hn::MulAdd(hn::Set(d, rows[s * left.stride + c]), column, sum[s]);
    }
#pragma GCC unroll 8
    for (int s = 0; s < R; ++s) hn::Store(sum[s], d, products + (first + s) * lanes);
  });
}

// How many rows of the state (channels) a kernel holds in registers.
inline constexpr int read_rows = 8;
inline constexpr int gradient_rows = lanes == 16 ? 8 : 4;

// into[p] = weight * sum over n of h[p][n] columns[n], for R channels.
template <int R>
HWY_INLINE void ReadStates(D d, const float* h, std::int64_t stride, std::int64_t states, const float* columns,
                           V weight, float* into, Ahead& ahead) {
  V sum[R];
#pragma GCC unroll 8
  for (int p = 0; p < R; ++p) sum[p] = hn::Zero(d);
  for (std::int64_t n = 0; n < states; ++n) {
    ahead.Next();
    const V column = hn::Load(d, columns + n * lanes);
#pragma GCC unroll 8
    for (int p = 0; p < R; ++p) sum[p] = hn::MulAdd(hn::Set(d, h[p * stride + n]), column, sum[p]);
  }
#pragma GCC unroll 8
  for (int p = 0; p < R; ++p) hn::Store(hn::Mul(weight, sum[p]), d, into + p * lanes);
}

// With g[p][n] the gradient of the state after the chunk, for R channels:
//   into[p] = weight * sum over n of g[p][n] B[n],   dB[n] += weight * sum over p of g[p][n] x[p]
// and what sum over p of x[p] into[p] / weight comes to is added to `both`. All in columns.
template <int R>
HWY_INLINE void WriteGradients(D d, const float* g, std::int64_t stride, std::int64_t states, const float* x,
                               const float* B, V weight, float* into, float* dB, V& both, Ahead& ahead) {
  V channel[R], sum[R];
#pragma GCC unroll 8
  for (int p = 0; p < R; ++p) {
    channel[p] = hn::Load(d, x + p * lanes);
    sum[p] = hn::Zero(d);
  }
  for (std::int64_t n = 0; n < states; ++n) {
    const V column = hn::Load(d, B + n * lanes);
    ahead.Next();
    V even = hn::Zero(d), odd = even;
#pragma GCC unroll 8
    for (int p = 0; p < R; ++p) {
      const V number = hn::Set(d, g[p * stride + n]);
      sum[p] = hn::MulAdd(number, column, sum[p]);
      V& of_n = p % 2 == 0 ? even : odd;
      of_n = p < 2 ? hn::Mul(number, channel[p]) : hn::MulAdd(number, channel[p], of_n);
    }
    hn::Store(hn::MulAdd(weight, hn::Add(even, odd), hn::Load(d, dB + n * lanes)), d, dB + n * lanes);
  }
#pragma GCC unroll 8
  for (int p = 0; p < R; ++p) {
    both = hn::MulAdd(sum[p], channel[p], both);
    hn::Store(hn::Mul(weight, sum[p]), d, into + p * lanes);
  }
}

// With h[p][n] the state before the chunk, for R channels: dC[n] += weight * s[n], where s[n] = sum over p of
// h[p][n] dy[p]; what sum over n of s[n] C[n] comes to is added to `both`. All in columns.
template <int R>
HWY_INLINE void ReadGradients(D d, const float* h, std::int64_t stride, std::int64_t states, const float* dy,
                              const float* C, V weight, float* dC, V& both, Ahead& ahead) {
  V channel[R];
#pragma GCC unroll 8
  for (int p = 0; p < R; ++p) channel[p] = hn::Load(d, dy + p * lanes);
  V total = both;
  for (std::int64_t n = 0; n < states; ++n) {
    ahead.Next();
    V even = hn::Zero(d), odd = even;
#pragma GCC unroll 8
    for (int p = 0; p < R; ++p) {
      const V number = hn::Set(d, h[p * stride + n]);
      V& of_n = p % 2 == 0 ? even : odd;
      of_n = p < 2 ? hn::Mul(number, channel[p]) : hn::MulAdd(number, channel[p], of_n);
    }
    const V sum = hn::Add(even, odd);
    total = hn::MulAdd(sum, hn::Load(d, C + n * lanes), total);
    hn::Store(hn::MulAdd(weight, sum, hn::Load(d, dC + n * lanes)), d, dC + n * lanes);
  }
  both = total;
}

// out[p][n] = decay * in[p][n] + sum over tokens of left[t][p] right[t][n], for R channels and N vectors of states.
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

// The same for channels x states numbers, states padded to whole vectors; in and out may be one.
inline void Advance(D d, Strided<const float> left, Strided<const float> right, float decay, std::int64_t channels,
                    std::int64_t states, const float* in, float* out, std::int64_t stride, Ahead& ahead) {
  constexpr int most = lanes == 16 ? 4 : 2;  // vectors of states at once
  InBlocks<most>(0, WholeVectors(states) / lanes, [&](std::int64_t vector, auto count) HWY_ATTR {
    constexpr int N = count(), R = lanes == 16 ? (N == 4 ? 4 : 8) : (N == 2 ? 4 : 8);
    const std::int64_t n = vector * lanes;
    InBlocks<R>(0, channels, [&](std::int64_t p, auto rows) HWY_ATTR {
      AdvanceBlock<rows(), N>(d, left.columns(p), right.columns(n), decay, in + p * stride + n, out + p * stride + n,
                              stride, ahead);
    });
  });
}

// Columns become rows, to which the tokens of the chunk add what they have of each other:
//   Earlier: out[t] = columns[.][t] + sum over s <= t of weights[s][t] rows[s]
//   Later:   out[s] = columns[.][s] + sum over t >= s of weights[s][t] rows[t]
// `tokens` rows are written.
enum class Adds { earlier, later };
template <Adds adds>
inline void StoreRows(D d, const float* columns, const float* weights, Strided<const float> rows, std::int64_t width,
                      Strided<float> out, std::int64_t tokens) {
  for (std::int64_t c = 0; c < width; c += lanes) {
    V v[lanes];
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) v[i] = hn::Load(d, columns + (c + i) * lanes);
    Transpose(d, v);
#pragma GCC unroll 16
    for (int from = 0; from < lanes; ++from) {
      const V row = hn::LoadU(d, rows.row(from) + c);
#pragma GCC unroll 16
      for (int to = 0; to < lanes; ++to) {
        if (adds == Adds::earlier && from <= to) {
          v[to] = hn::MulAdd(hn::Set(d, weights[from * lanes + to]), row, v[to]);
        }
        if (adds == Adds::later && to <= from) {
          v[to] = hn::MulAdd(hn::Set(d, weights[to * lanes + from]), row, v[to]);
        }
      }
    }
    const std::int64_t count = std::min(lanes, width - c);
#pragma GCC unroll 16
    for (int t = 0; t < lanes; ++t) {
      if (t < tokens) StoreUpTo(v[t], d, out.row(t) + c, count);
    }
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

// Sum over `count` numbers, a multiple of lanes, of left times right.
inline float InnerProduct(D d, const float* left, const float* right, std::int64_t count) {
  V sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      sums[k] = hn::MulAdd(hn::Load(d, left + i + k * lanes), hn::Load(d, right + i + k * lanes), sums[k]);
    }
  }
  for (; i < count; i += lanes) sums[0] = hn::MulAdd(hn::Load(d, left + i), hn::Load(d, right + i), sums[0]);
  return SumOf(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])));
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
