#include "core/kernels/layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/layer_norm.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

// Four rows at a time, because four horizontal sums cost little more than one.
constexpr std::int64_t block = 4;

// sums[r] = sum over the row of term(r, column, count), for rows < block; terms beyond count must be 0.
template <class Term>
HWY_INLINE void RowSums(std::int64_t rows, std::int64_t width, float* sums, const Term& term) {
  const D d;
  V total[block] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (std::int64_t r = 0; r < rows; ++r) {
    ForEachVector(
        width, [&](std::int64_t c, std::int64_t count) HWY_ATTR { total[r] = hn::Add(total[r], term(r, c, count)); });
  }
  StoreSums(d, total[0], total[1], total[2], total[3], sums, false);
}

struct Statistics {
  float mean[block], scale[block];
};

// Sums of squares become 1 / sqrt(variance + 1e-5).
HWY_INLINE void ScalesFromSums(float* sums, float per_number) {
  const hn::CappedTag<float, block> few;
  for (std::int64_t r = 0; r < block; r += static_cast<std::int64_t>(hn::Lanes(few))) {
    const auto variance = hn::Mul(hn::LoadU(few, sums + r), hn::Set(few, per_number));
    const auto deviation = hn::Sqrt(hn::Add(variance, hn::Set(few, 1e-5f)));
    hn::StoreU(hn::Div(hn::Set(few, 1.0f), deviation), few, sums + r);
  }
}

HWY_INLINE V Kept(D d, V value, std::int64_t count) {
  return count == lanes ? value : hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(count)), value);
}

HWY_INLINE Statistics StatisticsOf(std::int64_t rows, std::int64_t width, Strided<const float> in) {
  const D d;
  Statistics s;
  const float per_number = 1.0f / static_cast<float>(width);
  RowSums(rows, width, s.mean, [&](std::int64_t r, std::int64_t c, std::int64_t count) HWY_ATTR {
    return LoadUpTo(d, in.row(r) + c, count);
  });
  for (float& mean : s.mean) {
    mean *= per_number;
  }
  RowSums(rows, width, s.scale, [&](std::int64_t r, std::int64_t c, std::int64_t count) HWY_ATTR {
    const V off = Kept(d, hn::Sub(LoadUpTo(d, in.row(r) + c, count), hn::Set(d, s.mean[r])), count);
    return hn::Mul(off, off);
  });
  ScalesFromSums(s.scale, per_number);
  return s;
}

// Rows that fit one vector are loaded once and stay in registers.
struct NarrowBlock {
  V normal[block];  // (in - mean) scale, 0 beyond the width
  float scale[block];
};

// Rows from `t` on; where fewer than four are left, the last one stands in for the missing.
HWY_INLINE NarrowBlock NormalOf(std::int64_t t, std::int64_t length, std::int64_t width, Strided<const float> in) {
  const D d;
  NarrowBlock b;
  const float per_number = 1.0f / static_cast<float>(width);
#pragma GCC unroll 4
  for (std::int64_t r = 0; r < block; ++r) {
    b.normal[r] = LoadUpTo(d, in.row(std::min(t + r, length - 1)), width);
  }
  float mean[block];
  StoreSums(d, b.normal[0], b.normal[1], b.normal[2], b.normal[3], mean, false);
  V square[block];
#pragma GCC unroll 4
  for (std::int64_t r = 0; r < block; ++r) {
    b.normal[r] = Kept(d, hn::NegMulAdd(hn::Set(d, mean[r]), hn::Set(d, per_number), b.normal[r]), width);
    square[r] = hn::Mul(b.normal[r], b.normal[r]);
  }
  StoreSums(d, square[0], square[1], square[2], square[3], b.scale, false);
  ScalesFromSums(b.scale, per_number);
#pragma GCC unroll 4
  for (std::int64_t r = 0; r < block; ++r) {
    b.normal[r] = hn::Mul(b.normal[r], hn::Set(d, b.scale[r]));
  }
  return b;
}

void NarrowNorm(std::int64_t length, std::int64_t width, Strided<const float> in, const float* weight,
                Strided<float> out) {
  const D d;
  const V factor = LoadUpTo(d, weight, width);
  for (std::int64_t t = 0; t < length; t += block) {
    const NarrowBlock b = NormalOf(t, length, width, in);
    const std::int64_t rows = std::min(block, length - t);
    for (std::int64_t r = 0; r < rows; ++r) {
      StoreUpTo(hn::Mul(b.normal[r], factor), d, out.row(t + r), width);
    }
  }
}

void NarrowNormBackward(std::int64_t length, std::int64_t width, Strided<const float> in, const float* weight,
                        Strided<const float> dout, Strided<float> din, bool add, float* dweight) {
  const D d;
  const float per_number = 1.0f / static_cast<float>(width);
  const V factor = LoadUpTo(d, weight, width);
  V into_weight = hn::Zero(d);
  for (std::int64_t t = 0; t < length; t += block) {
    const NarrowBlock b = NormalOf(t, length, width, in);
    const std::int64_t rows = std::min(block, length - t);
    V wanted[block], product[block];
#pragma GCC unroll 4
    for (std::int64_t r = 0; r < block; ++r) {
      const V incoming = r < rows ? LoadUpTo(d, dout.row(t + r), width) : hn::Zero(d);
      into_weight = hn::MulAdd(incoming, b.normal[r], into_weight);
      wanted[r] = hn::Mul(incoming, factor);
      product[r] = hn::Mul(wanted[r], b.normal[r]);
    }
    float plain[block], along[block];
    StoreSums(d, wanted[0], wanted[1], wanted[2], wanted[3], plain, false);
    StoreSums(d, product[0], product[1], product[2], product[3], along, false);
    for (std::int64_t r = 0; r < rows; ++r) {
      const V centred = hn::NegMulAdd(b.normal[r], hn::Set(d, along[r] * per_number),
                                      hn::Sub(wanted[r], hn::Set(d, plain[r] * per_number)));
      const V before = add ? LoadUpTo(d, din.row(t + r), width) : hn::Zero(d);
      StoreUpTo(hn::MulAdd(centred, hn::Set(d, b.scale[r]), before), d, din.row(t + r), width);
    }
  }
  StoreUpTo(hn::Add(into_weight, LoadUpTo(d, dweight, width)), d, dweight, width);
}

void Norm(std::int64_t length, std::int64_t width, Strided<const float> in, const float* weight, Strided<float> out) {
  if (width <= lanes) {
    NarrowNorm(length, width, in, weight, out);
    return;
  }
  const D d;
  for (std::int64_t t = 0; t < length; t += block) {
    const std::int64_t rows = std::min(block, length - t);
    const Statistics s = StatisticsOf(rows, width, {in.row(t), in.stride});
    for (std::int64_t r = 0; r < rows; ++r) {
      const V mean = hn::Set(d, s.mean[r]), scale = hn::Set(d, s.scale[r]);
      ForEachVector(width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
        const V normal = hn::Mul(hn::Sub(LoadUpTo(d, in.row(t + r) + c, count), mean), scale);
        StoreUpTo(hn::Mul(normal, LoadUpTo(d, weight + c, count)), d, out.row(t + r) + c, count);
      });
    }
  }
}

void NormBackward(std::int64_t length, std::int64_t width, Strided<const float> in, const float* weight,
                  Strided<const float> dout, Strided<float> din, bool add, float* dweight) {
  if (width <= lanes) {
    NarrowNormBackward(length, width, in, weight, dout, din, add, dweight);
    return;
  }
  const D d;
  const float per_number = 1.0f / static_cast<float>(width);
  for (std::int64_t t = 0; t < length; t += block) {
    const std::int64_t rows = std::min(block, length - t);
    const Statistics s = StatisticsOf(rows, width, {in.row(t), in.stride});
    const auto normal = [&](std::int64_t r, std::int64_t c, std::int64_t count) HWY_ATTR {
      const V off = hn::Sub(LoadUpTo(d, in.row(t + r) + c, count), hn::Set(d, s.mean[r]));
      return hn::Mul(off, hn::Set(d, s.scale[r]));
    };
    // LoadUpTo gives zeros beyond count, and so the products are.
    const auto weighted = [&](std::int64_t r, std::int64_t c, std::int64_t count) HWY_ATTR {
      return hn::Mul(LoadUpTo(d, dout.row(t + r) + c, count), LoadUpTo(d, weight + c, count));
    };
    float plain[block], along[block];
    RowSums(rows, width, plain, weighted);
    RowSums(rows, width, along, [&](std::int64_t r, std::int64_t c, std::int64_t count) HWY_ATTR {
      return hn::Mul(weighted(r, c, count), normal(r, c, count));
    });
    ForEachVector(width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      V into_weight = LoadUpTo(d, dweight + c, count);
      for (std::int64_t r = 0; r < rows; ++r) {
        const V n = normal(r, c, count);
        const V wanted = weighted(r, c, count);
        into_weight = hn::MulAdd(LoadUpTo(d, dout.row(t + r) + c, count), n, into_weight);
        const V centred =
            hn::NegMulAdd(n, hn::Set(d, along[r] * per_number), hn::Sub(wanted, hn::Set(d, plain[r] * per_number)));
        V gradient = hn::Mul(hn::Set(d, s.scale[r]), centred);
        if (add) {
          gradient = hn::Add(gradient, LoadUpTo(d, din.row(t + r) + c, count));
        }
        StoreUpTo(gradient, d, din.row(t + r) + c, count);
      }
      StoreUpTo(into_weight, d, dweight + c, count);
    });
  }
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(Norm);
HWY_EXPORT(NormBackward);

void layer_norm(std::int64_t length, std::int64_t width, Strided<const float> in, const float* weight,
                Strided<float> out) {
  HWY_DYNAMIC_DISPATCH(Norm)(length, width, in, weight, out);
}

void layer_norm_backward(std::int64_t length, std::int64_t width, Strided<const float> in, const float* weight,
                         Strided<const float> dout, Strided<float> din, bool add, float* dweight) {
  HWY_DYNAMIC_DISPATCH(NormBackward)(length, width, in, weight, dout, din, add, dweight);
}

}  // namespace mambarium::kernels
#endif
