#include "core/kernels/matrix_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/matrix_product.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

// Registers: AVX-512 has 32, the others 16.
constexpr int most_vectors = lanes == 16 ? 4 : 2;

// A block of R rows by Vs vectors of the result, summed in registers.
template <int R, int Vs>
HWY_INLINE void ProductBlock(std::int64_t depth, std::int64_t last_count, Strided<const float> left,
                             Strided<const float> right, Strided<float> out, bool add) {
  const D d;
  V sum[R][Vs];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < Vs; ++v) {
      sum[r][v] = add ? LoadUpTo(d, out.row(r) + v * lanes, v == Vs - 1 ? last_count : lanes) : hn::Zero(d);
    }
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    V row[Vs];
#pragma GCC unroll 4
    for (int v = 0; v < Vs; ++v) {
      row[v] = hn::LoadU(d, right.row(k) + v * lanes);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const V factor = hn::Set(d, left.row(r)[k]);
#pragma GCC unroll 4
      for (int v = 0; v < Vs; ++v) {
        sum[r][v] = hn::MulAdd(factor, row[v], sum[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < Vs; ++v) {
      StoreUpTo(sum[r][v], d, out.row(r) + v * lanes, v == Vs - 1 ? last_count : lanes);
    }
  }
}

template <int R, int Vs>
void ProductPanel(std::int64_t length, std::int64_t depth, std::int64_t last_count, Strided<const float> left,
                  Strided<const float> right, Strided<float> out, bool add) {
  std::int64_t t = 0;
  for (; t + R <= length; t += R) {
    ProductBlock<R, Vs>(depth, last_count, {left.row(t), left.stride}, right, {out.row(t), out.stride}, add);
  }
  for (; t < length; ++t) {
    ProductBlock<1, Vs>(depth, last_count, {left.row(t), left.stride}, right, {out.row(t), out.stride}, add);
  }
}

// Cuts a width into panels of at most most_vectors vectors: work(column, vectors, numbers in the last one).
template <class Work>
HWY_INLINE void ForEachPanel(std::int64_t width, const Work& work) {
  for (std::int64_t column = 0; column < width;) {
    std::int64_t vectors = std::min<std::int64_t>((width - column + lanes - 1) / lanes, most_vectors);
    vectors = vectors == 3 ? 2 : vectors;
    work(column, vectors, std::min(lanes, width - column - (vectors - 1) * lanes));
    column += vectors * lanes;
  }
}

void Product(std::int64_t length, std::int64_t depth, std::int64_t width, Strided<const float> left,
             Strided<const float> right, Strided<float> out, bool add) {
  ForEachPanel(width, [&](std::int64_t column, std::int64_t vectors, std::int64_t last) HWY_ATTR {
    const auto panel = right.columns(column);
    const auto to = out.columns(column);
    if (vectors == 4) {
      ProductPanel<4, most_vectors>(length, depth, last, left, panel, to, add);
    } else if (vectors == 2) {
      ProductPanel<4, 2>(length, depth, last, left, panel, to, add);
    } else {
      ProductPanel<8, 1>(length, depth, last, left, panel, to, add);
    }
  });
}

template <int R, int Vs>
HWY_INLINE void OuterBlock(std::int64_t length, std::int64_t last_count, Strided<const float> left,
                           Strided<const float> right, Strided<float> sum) {
  const D d;
  V total[R][Vs];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < Vs; ++v) {
      total[r][v] = hn::Zero(d);
    }
  }
  for (std::int64_t t = 0; t < length; ++t) {
    V row[Vs];
#pragma GCC unroll 4
    for (int v = 0; v < Vs; ++v) {
      row[v] = LoadUpTo(d, right.row(t) + v * lanes, v == Vs - 1 ? last_count : lanes);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const V factor = hn::Set(d, left.row(t)[r]);
#pragma GCC unroll 4
      for (int v = 0; v < Vs; ++v) {
        total[r][v] = hn::MulAdd(factor, row[v], total[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < Vs; ++v) {
      float* to = sum.row(r) + v * lanes;
      hn::StoreU(hn::Add(total[r][v], hn::LoadU(d, to)), d, to);
    }
  }
}

template <int R, int Vs>
void OuterPanel(std::int64_t length, std::int64_t height, std::int64_t last_count, Strided<const float> left,
                Strided<const float> right, Strided<float> sum) {
  std::int64_t i = 0;
  for (; i + R <= height; i += R) {
    OuterBlock<R, Vs>(length, last_count, left.columns(i), right, {sum.row(i), sum.stride});
  }
  for (; i < height; ++i) {
    OuterBlock<1, Vs>(length, last_count, left.columns(i), right, {sum.row(i), sum.stride});
  }
}

void OuterProducts(std::int64_t length, std::int64_t height, std::int64_t width, Strided<const float> left,
                   Strided<const float> right, Strided<float> sum) {
  ForEachPanel(width, [&](std::int64_t column, std::int64_t vectors, std::int64_t last) HWY_ATTR {
    const auto panel = right.columns(column);
    const auto to = sum.columns(column);
    if (vectors == 4) {
      OuterPanel<4, most_vectors>(length, height, last, left, panel, to);
    } else if (vectors == 2) {
      OuterPanel<4, 2>(length, height, last, left, panel, to);
    } else {
      OuterPanel<8, 1>(length, height, last, left, panel, to);
    }
  });
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(Product);
HWY_EXPORT(OuterProducts);

void product(std::int64_t length, std::int64_t depth, std::int64_t width, Strided<const float> left,
             Strided<const float> right, Strided<float> out, bool add) {
  HWY_DYNAMIC_DISPATCH(Product)(length, depth, width, left, right, out, add);
}

void add_outer_products(std::int64_t length, std::int64_t height, std::int64_t width, Strided<const float> left,
                        Strided<const float> right, Strided<float> sum) {
  HWY_DYNAMIC_DISPATCH(OuterProducts)(length, height, width, left, right, sum);
}

void transpose(std::int64_t rows, std::int64_t columns, Strided<const float> in, Strided<float> out) {
  for (std::int64_t n = 0; n < columns; ++n) {
    for (std::int64_t k = 0; k < rows; ++k) {
      out.row(n)[k] = in.row(k)[n];
    }
    std::fill(out.row(n) + rows, out.row(n) + out.stride, 0.0f);
  }
}

}  // namespace mambarium::kernels
#endif
