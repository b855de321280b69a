#include "core/kernels/rms_norm.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/rms_norm.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

// Two rows at a time, because four horizontal sums cost little more than one and the way back needs two a row.
constexpr std::int64_t block = 2;

enum class Gate { none, inside, after };

struct Inputs {
  Strided<const float> in, gate;
  const float* weight;
};

// What is normed, and where wanted silu(gate) and its slope.
template <Gate G>
HWY_INLINE V Normed(D d, const Inputs& from, std::int64_t t, std::int64_t c, std::int64_t count, V& silu, V& slope) {
  const V in = LoadUpTo(d, from.in.row(t) + c, count);
  if constexpr (G == Gate::none) {
    return in;
  } else {
    silu = Activated<Activation::silu>(d, LoadUpTo(d, from.gate.row(t) + c, count), slope);
    return G == Gate::inside ? hn::Mul(in, silu) : in;
  }
}

HWY_INLINE float ScaleOf(float squares, const RmsNormShape& shape) {
  const auto width = static_cast<double>(shape.width / shape.groups);
  return static_cast<float>(1 / std::sqrt(static_cast<double>(squares) / width + shape.epsilon));
}

template <Gate G>
void Norm(const RmsNormShape& shape, const Inputs& from, Strided<float> out) {
  const D d;
  const std::int64_t width = shape.width / shape.groups;
  for (std::int64_t t = 0; t < shape.length; t += block) {
    const std::int64_t rows = std::min(block, shape.length - t);
    for (std::int64_t first = 0; first < shape.width; first += width) {
      V squares[block] = {hn::Zero(d), hn::Zero(d)};
      for (std::int64_t r = 0; r < rows; ++r) {
        ForEachVector(width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
          V silu, slope;
          const V v = Normed<G>(d, from, t + r, first + c, count, silu, slope);
          squares[r] = hn::MulAdd(v, v, squares[r]);
        });
      }
      float sums[4];
      StoreSums(d, squares[0], squares[1], hn::Zero(d), hn::Zero(d), sums, false);
      for (std::int64_t r = 0; r < rows; ++r) {
        const V scale = hn::Set(d, ScaleOf(sums[r], shape));
        ForEachVector(width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
          V silu, slope;
          const V normal = hn::Mul(Normed<G>(d, from, t + r, first + c, count, silu, slope), scale);
          V result = hn::Mul(normal, LoadUpTo(d, from.weight + first + c, count));
          if constexpr (G == Gate::after) {
            result = hn::Mul(result, silu);
          }
          StoreUpTo(result, d, out.row(t + r) + first + c, count);
        });
      }
    }
  }
}

template <Gate G>
void NormBackward(const RmsNormShape& shape, const Inputs& from, Strided<const float> dout,
                  const RmsNormGradients<float>& to) {
  const D d;
  const std::int64_t width = shape.width / shape.groups;
  // dL / d norm(v)
  const auto wanted = [&](std::int64_t t, std::int64_t c, std::int64_t count, [[maybe_unused]] V silu) HWY_ATTR {
    V value = hn::Mul(LoadUpTo(d, dout.row(t) + c, count), LoadUpTo(d, from.weight + c, count));
    if constexpr (G == Gate::after) {
      value = hn::Mul(value, silu);
    }
    return value;
  };
  for (std::int64_t t = 0; t < shape.length; t += block) {
    const std::int64_t rows = std::min(block, shape.length - t);
    for (std::int64_t first = 0; first < shape.width; first += width) {
      V squares[block] = {hn::Zero(d), hn::Zero(d)}, products[block] = {hn::Zero(d), hn::Zero(d)};
      for (std::int64_t r = 0; r < rows; ++r) {
        ForEachVector(width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
          V silu, slope;
          const V v = Normed<G>(d, from, t + r, first + c, count, silu, slope);
          squares[r] = hn::MulAdd(v, v, squares[r]);
          products[r] = hn::MulAdd(v, wanted(t + r, first + c, count, silu), products[r]);
        });
      }
      float sums[4];
      StoreSums(d, squares[0], squares[1], products[0], products[1], sums, false);
      for (std::int64_t r = 0; r < rows; ++r) {
        const float factor = ScaleOf(sums[r], shape);
        const V scale = hn::Set(d, factor);
        const V along = hn::Set(d, factor * sums[block + r] / static_cast<float>(width));
        ForEachVector(width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
          const std::int64_t column = first + c;
          V silu, slope;
          const V normal = hn::Mul(Normed<G>(d, from, t + r, column, count, silu, slope), scale);
          const V given = LoadUpTo(d, dout.row(t + r) + column, count);
          const V into_normal = wanted(t + r, column, count, silu);
          const V into_normed = hn::Mul(scale, hn::NegMulAdd(normal, along, into_normal));
          V into_weight = hn::Mul(given, normal), into_in = into_normed;
          if constexpr (G == Gate::after) {
            const V ungated = hn::Mul(hn::Mul(given, LoadUpTo(d, from.weight + column, count)), normal);
            StoreUpTo(hn::Mul(ungated, slope), d, to.gate.row(t + r) + column, count);
            into_weight = hn::Mul(into_weight, silu);
          } else if constexpr (G == Gate::inside) {
            const V in = LoadUpTo(d, from.in.row(t + r) + column, count);
            StoreUpTo(hn::Mul(hn::Mul(into_normed, in), slope), d, to.gate.row(t + r) + column, count);
            into_in = hn::Mul(into_normed, silu);
          }
          StoreUpTo(into_in, d, to.in.row(t + r) + column, count);
          float* sum = to.weight + column;
          StoreUpTo(hn::Add(into_weight, LoadUpTo(d, sum, count)), d, sum, count);
        });
      }
    }
  }
}

void Forward(const RmsNormShape& shape, Strided<const float> in, Strided<const float> gate, const float* weight,
             Strided<float> out) {
  const Inputs from{in, gate, weight};
  if (gate.data == nullptr) {
    Norm<Gate::none>(shape, from, out);
  } else if (shape.norm_before_gate) {
    Norm<Gate::after>(shape, from, out);
  } else {
    Norm<Gate::inside>(shape, from, out);
  }
}

void Backward(const RmsNormShape& shape, Strided<const float> in, Strided<const float> gate, const float* weight,
              Strided<const float> dout, const RmsNormGradients<float>& gradients) {
  const Inputs from{in, gate, weight};
  if (gate.data == nullptr) {
    NormBackward<Gate::none>(shape, from, dout, gradients);
  } else if (shape.norm_before_gate) {
    NormBackward<Gate::after>(shape, from, dout, gradients);
  } else {
    NormBackward<Gate::inside>(shape, from, dout, gradients);
  }
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);

void rms_norm(const RmsNormShape& shape, Strided<const float> in, Strided<const float> gate, const float* weight,
              Strided<float> out) {
  HWY_DYNAMIC_DISPATCH(Forward)(shape, in, gate, weight, out);
}

void rms_norm_backward(const RmsNormShape& shape, Strided<const float> in, Strided<const float> gate,
                       const float* weight, Strided<const float> dout, const RmsNormGradients<float>& gradients) {
  HWY_DYNAMIC_DISPATCH(Backward)(shape, in, gate, weight, dout, gradients);
}

}  // namespace mambarium::kernels
#endif
