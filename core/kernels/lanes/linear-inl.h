// Matrix products of LaneRows with one matrix for all lanes, and the gradients of that matrix, lane by lane. Include
// after hwy/foreach_target.h.

#if defined(MAMBARIUM_KERNELS_LANES_LINEAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_LINEAR_INL_H_
#undef MAMBARIUM_KERNELS_LANES_LINEAR_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_LINEAR_INL_H_
#endif

#include "core/kernels/lanes/lane_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

// Element (j, k) lies at data[j * row + k * column]: a matrix or, with the strides exchanged, its transpose.
struct Matrix {
  const float* data = nullptr;
  std::int64_t row = 0, column = 1;
};

// Sums held in registers: AVX-512 has 32 of them, the others 16.
constexpr int tile_outputs = 4, tile_rows = lanes == 16 ? 4 : 2;

template <int J, int T>
HWY_INLINE void LinearTile(std::int64_t depth, Matrix matrix, Numbers in, NumbersOut out, bool add) {
  V sum[J][T];
#pragma GCC unroll 8
  for (int j = 0; j < J; ++j) {
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) sum[j][t] = add ? At(out, t, j) : Nothing();
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    V row[T];
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) row[t] = At(in, t, k);
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j) {
      const V weight = All(matrix.data[j * matrix.row + k * matrix.column]);
#pragma GCC unroll 8
      for (int t = 0; t < T; ++t) sum[j][t] = hn::MulAdd(weight, row[t], sum[j][t]);
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < J; ++j) {
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) Put(sum[j][t], out, t, j);
  }
}

template <int J>
HWY_INLINE void LinearOutputs(std::int64_t rows, std::int64_t depth, Matrix matrix, Numbers in, NumbersOut out,
                              bool add) {
  std::int64_t t = 0;
  for (; t + tile_rows <= rows; t += tile_rows) {
    LinearTile<J, tile_rows>(depth, matrix, in.from_row(t), out.from_row(t), add);
  }
  for (; t < rows; ++t) LinearTile<J, 1>(depth, matrix, in.from_row(t), out.from_row(t), add);
}

// out(t, j) = sum over k of matrix(j, k) in(t, k), for `width` columns of out; or added to it.
inline void Linear(std::int64_t rows, std::int64_t depth, std::int64_t width, Matrix matrix, Numbers in, NumbersOut out,
                   bool add = false) {
  std::int64_t j = 0;
  const auto from = [&](std::int64_t first) {
    return Matrix{matrix.data + first * matrix.row, matrix.row, matrix.column};
  };
  for (; j + tile_outputs <= width; j += tile_outputs) {
    LinearOutputs<tile_outputs>(rows, depth, from(j), in, out.from_column(j), add);
  }
  for (; j < width; ++j) LinearOutputs<1>(rows, depth, from(j), in, out.from_column(j), add);
}

template <int J, int K>
HWY_INLINE void LinearGradientTile(std::int64_t rows, std::int64_t depth, Numbers in, Numbers dout, float* sums) {
  V sum[J][K];
#pragma GCC unroll 8
  for (int j = 0; j < J; ++j) {
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k) sum[j][k] = hn::Load(D(), sums + (j * depth + k) * lanes);
  }
  for (std::int64_t t = 0; t < rows; ++t) {
    V row[K];
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k) row[k] = At(in, t, k);
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j) {
      const V incoming = At(dout, t, j);
#pragma GCC unroll 8
      for (int k = 0; k < K; ++k) sum[j][k] = hn::MulAdd(incoming, row[k], sum[j][k]);
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < J; ++j) {
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k) hn::Store(sum[j][k], D(), sums + (j * depth + k) * lanes);
  }
}

template <int J>
HWY_INLINE void LinearGradientOutputs(std::int64_t rows, std::int64_t depth, Numbers in, Numbers dout, float* sums) {
  std::int64_t k = 0;
  for (; k + tile_rows <= depth; k += tile_rows) {
    LinearGradientTile<J, tile_rows>(rows, depth, in.from_column(k), dout, sums + k * lanes);
  }
  for (; k < depth; ++k) LinearGradientTile<J, 1>(rows, depth, in.from_column(k), dout, sums + k * lanes);
}

// sums(j, k) += sum over t of dout(t, j) in(t, k): [width][depth] vectors.
inline void LinearGradient(std::int64_t rows, std::int64_t depth, std::int64_t width, Numbers in, Numbers dout,
                           float* sums) {
  std::int64_t j = 0;
  for (; j + tile_outputs <= width; j += tile_outputs) {
    LinearGradientOutputs<tile_outputs>(rows, depth, in, dout.from_column(j), sums + j * depth * lanes);
  }
  for (; j < width; ++j) {
    LinearGradientOutputs<1>(rows, depth, in, dout.from_column(j), sums + j * depth * lanes);
  }
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_LINEAR_INL_H_
