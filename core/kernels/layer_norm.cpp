#include "core/kernels/layer_norm.h"

#include <cmath>

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
  for (float& scale : s.scale) {
    scale = 1.0f / std::sqrt(scale * per_number + 1e-5f);
  }
  return s;
}

void Norm(std::int64_t length, std::int64_t width, Strided<const float> in, const float* weight, Strided<float> out) {
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
