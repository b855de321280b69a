#include <cmath>

#include "core/kernels/rms_norm.h"

namespace mambarium::kernels {

namespace {

template <class Real>
Real silu(Real z) {
  return z / (1 + std::exp(-z));
}

template <class Real>
Real silu_slope(Real z) {
  const Real s = 1 / (1 + std::exp(-z));
  return s + z * s * (1 - s);
}

// One group of one row.
template <class Real>
struct Group {
  Group(const RmsNormShape& shape, const Real* in_, const Real* gate_)
      : width(shape.width / shape.groups), in(in_), gate(gate_), before(shape.norm_before_gate) {
    Real squares = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      squares += normed(i) * normed(i);
    }
    scale = 1 / std::sqrt(squares / static_cast<Real>(width) + static_cast<Real>(shape.epsilon));
  }
  Real normed(std::int64_t i) const { return gate && !before ? in[i] * silu(gate[i]) : in[i]; }
  Real factor(std::int64_t i) const { return gate && before ? silu(gate[i]) : 1; }

  std::int64_t width;
  const Real *in, *gate;
  bool before;
  Real scale = 0;
};

template <class Real>
const Real* row_or_null(const Strided<const Real>& rows, std::int64_t t, std::int64_t column) {
  return rows.data != nullptr ? rows.row(t) + column : nullptr;
}

}  // namespace

template <class Real>
void rms_norm_reference(const RmsNormShape& shape, Strided<const Real> in, Strided<const Real> gate, const Real* weight,
                        Strided<Real> out) {
  for (std::int64_t t = 0; t < shape.length; ++t) {
    for (std::int64_t c = 0; c < shape.width; c += shape.width / shape.groups) {
      const Group<Real> group(shape, in.row(t) + c, row_or_null(gate, t, c));
      for (std::int64_t i = 0; i < group.width; ++i) {
        out.row(t)[c + i] = weight[c + i] * group.normed(i) * group.scale * group.factor(i);
      }
    }
  }
}

template <class Real>
void rms_norm_backward_reference(const RmsNormShape& shape, Strided<const Real> in, Strided<const Real> gate,
                                 const Real* weight, Strided<const Real> dout,
                                 const RmsNormGradients<Real>& gradients) {
  for (std::int64_t t = 0; t < shape.length; ++t) {
    for (std::int64_t c = 0; c < shape.width; c += shape.width / shape.groups) {
      const Group<Real> group(shape, in.row(t) + c, row_or_null(gate, t, c));
      const Real* incoming = dout.row(t) + c;
      Real along = 0;
      for (std::int64_t i = 0; i < group.width; ++i) {
        along += incoming[i] * weight[c + i] * group.factor(i) * group.normed(i) * group.scale;
      }
      along /= static_cast<Real>(group.width);
      for (std::int64_t i = 0; i < group.width; ++i) {
        const Real given = incoming[i], w = weight[c + i], normal = group.normed(i) * group.scale;
        const Real into_normed = group.scale * (given * w * group.factor(i) - normal * along);
        gradients.weight[c + i] += given * normal * group.factor(i);
        const bool inside = group.gate && !group.before;
        gradients.in.row(t)[c + i] = into_normed * (inside ? silu(group.gate[i]) : Real(1));
        if (group.gate) {
          gradients.gate.row(t)[c + i] =
              silu_slope(group.gate[i]) * (inside ? into_normed * group.in[i] : given * w * normal);
        }
      }
    }
  }
}

template void rms_norm_reference(const RmsNormShape&, Strided<const float>, Strided<const float>, const float*,
                                 Strided<float>);
template void rms_norm_reference(const RmsNormShape&, Strided<const double>, Strided<const double>, const double*,
                                 Strided<double>);
template void rms_norm_backward_reference(const RmsNormShape&, Strided<const float>, Strided<const float>, const float*,
                                          Strided<const float>, const RmsNormGradients<float>&);
template void rms_norm_backward_reference(const RmsNormShape&, Strided<const double>, Strided<const double>,
                                          const double*, Strided<const double>, const RmsNormGradients<double>&);

}  // namespace mambarium::kernels
