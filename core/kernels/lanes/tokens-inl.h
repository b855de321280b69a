// Tokens of as many sequences as a vector has lanes, and sums by them. Include after hwy/foreach_target.h.

#if defined(MAMBARIUM_KERNELS_LANES_TOKENS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_TOKENS_INL_H_
#undef MAMBARIUM_KERNELS_LANES_TOKENS_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_TOKENS_INL_H_
#endif

#include "core/kernels/lanes/lane_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

using I = hn::Vec<Integers>;

// Row t holds token t of every sequence; -1 in lanes that have no sequence.
class LaneTokens {
 public:
  LaneTokens() = default;
  LaneTokens(std::int64_t length, Scratch& scratch)
      : tokens_(reinterpret_cast<std::int32_t*>(scratch.floats(length * lanes))) {}
  // Of `sequences` rows of `length` tokens that follow each other.
  LaneTokens(const std::int64_t* tokens, std::int64_t sequences, std::int64_t length, Scratch& scratch)
      : LaneTokens(length, scratch) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      for (std::int64_t t = 0; t < length; ++t) {
        row(t)[lane] = lane < sequences ? static_cast<std::int32_t>(tokens[lane * length + t]) : -1;
      }
    }
  }

  I at(std::int64_t t) const { return hn::Load(Integers(), row(t)); }
  std::int32_t* row(std::int64_t t) const { return tokens_ + t * lanes; }
  LaneTokens from_row(std::int64_t t) const {
    LaneTokens rest;
    rest.tokens_ = row(t);
    return rest;
  }

 private:
  std::int32_t* tokens_ = nullptr;
};

HWY_INLINE hn::Mask<D> Holding(I tokens, std::int64_t token) {
  return hn::RebindMask(D(), hn::Eq(tokens, hn::Set(Integers(), static_cast<std::int32_t>(token))));
}

template <int K, int C>
HWY_INLINE void SumColumnsByToken(std::int64_t rows, const LaneTokens& tokens, std::int64_t first, Numbers values,
                                  float* sums, std::int64_t stride) {
  const D d;
  V sum[K][C];
#pragma GCC unroll 4
  for (int k = 0; k < K; ++k) {
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) sum[k][c] = hn::Load(d, sums + (k * stride + c) * lanes);
  }
  for (std::int64_t t = 0; t < rows; ++t) {
    const I here = tokens.at(t);
#pragma GCC unroll 4
    for (int k = 0; k < K; ++k) {
      const auto mask = Holding(here, first + k);
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) {
        sum[k][c] = hn::IfThenElse(mask, hn::Add(sum[k][c], At(values, t, c)), sum[k][c]);
      }
    }
  }
#pragma GCC unroll 4
  for (int k = 0; k < K; ++k) {
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) hn::Store(sum[k][c], d, sums + (k * stride + c) * lanes);
  }
}

template <int K>
HWY_INLINE void SumColumnsByToken(std::int64_t rows, const LaneTokens& tokens, std::int64_t first, std::int64_t width,
                                  Numbers values, float* sums) {
  std::int64_t c = 0;
  for (; c + 4 <= width; c += 4) {
    SumColumnsByToken<K, 4>(rows, tokens, first, values.from_column(c), sums + c * lanes, width);
  }
  for (; c < width; ++c) {
    SumColumnsByToken<K, 1>(rows, tokens, first, values.from_column(c), sums + c * lanes, width);
  }
}

// sums [count][width] vectors: to those of every token below `count`, the rows of `values` [rows][width] that hold it
// are added, lane by lane.
inline void SumByToken(std::int64_t rows, const LaneTokens& tokens, std::int64_t count, std::int64_t width,
                       Numbers values, float* sums) {
  std::int64_t token = 0;
  for (; token + 2 <= count; token += 2) {
    SumColumnsByToken<2>(rows, tokens, token, width, values, sums + token * width * lanes);
  }
  for (; token < count; ++token) {
    SumColumnsByToken<1>(rows, tokens, token, width, values, sums + token * width * lanes);
  }
}

// u(t) = table[token], table [count][width] numbers.
inline void Embed(std::int64_t rows, const LaneTokens& tokens, std::int64_t count, const float* table, NumbersOut u) {
  for (std::int64_t t = 0; t < rows; ++t) {
    const I here = tokens.at(t);
    for (std::int64_t c = 0; c < u.width; ++c) {
      V value = All(table[c]);
      for (std::int64_t token = 1; token < count; ++token) {
        value = hn::IfThenElse(Holding(here, token), All(table[token * u.width + c]), value);
      }
      Put(value, u, t, c);
    }
  }
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_TOKENS_INL_H_
