#include <cmath>
#include <vector>

#include "core/kernels/diagonal_scan.h"

namespace mambarium::kernels {

namespace {

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

template <class Real>
void zero(const Rows<Real>& rows, const DiagonalScanShape& shape, std::int64_t width) {
  for (std::int64_t b = 0; rows.data != nullptr && b < shape.batch; ++b) {
    for (std::int64_t t = 0; t < shape.length; ++t) {
      std::fill_n(rows.row(b, t), width, Real(0));
    }
  }
}

template <class Real>
void add(const Rows<Real>& rows, std::int64_t b, std::int64_t t, std::int64_t column, Real value) {
  if (rows.data != nullptr) {
    rows.row(b, t)[column] += value;
  }
}

}  // namespace

template <class Real>
void diagonal_scan_reference(const DiagonalScanShape& shape, const DiagonalScanInputs<Real>& in, Rows<Real> y,
                             Real* h_final) {
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t t = 0; t < shape.length; ++t) {
      std::fill_n(y.row(b, t), shape.channels, Real(0));
    }
    for (std::int64_t d = 0; d < shape.channels; ++d) {
      for (std::int64_t n = 0; n < shape.d_state; ++n) {
        const std::int64_t offset = (b * shape.channels + d) * shape.d_state + n;
        const Real A = in.A[d * shape.d_state + n];
        Real h = in.h0 ? in.h0[offset] : 0;
        for (std::int64_t t = 0; t < shape.length; ++t) {
          const Real dt = in.dt.row(b, t)[d];
          h = std::exp(dt * A) * h + dt * in.x.row(b, t)[d] * in.B.row(b, t)[n];
          y.row(b, t)[d] += in.C.row(b, t)[n] * h;
        }
        if (h_final) {
          h_final[offset] = h;
        }
      }
    }
  }
}

template <class Real>
void diagonal_scan_backward_reference(const DiagonalScanShape& shape, const DiagonalScanInputs<Real>& in,
                                      Rows<const Real> dy, const Real* dh_final,
                                      const DiagonalScanGradients<Real>& out) {
  zero(out.x, shape, shape.channels);
  zero(out.dt, shape, shape.channels);
  zero(out.B, shape, shape.d_state);
  zero(out.C, shape, shape.d_state);
  if (out.A != nullptr) {
    std::fill_n(out.A, shape.channels * shape.d_state, Real(0));
  }
  std::vector<Real> h(size(shape.length + 1));
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t d = 0; d < shape.channels; ++d) {
      for (std::int64_t n = 0; n < shape.d_state; ++n) {
        const std::int64_t offset = (b * shape.channels + d) * shape.d_state + n;
        const Real A = in.A[d * shape.d_state + n];
        h[0] = in.h0 ? in.h0[offset] : 0;
        for (std::int64_t t = 0; t < shape.length; ++t) {
          const Real dt = in.dt.row(b, t)[d];
          h[size(t + 1)] = std::exp(dt * A) * h[size(t)] + dt * in.x.row(b, t)[d] * in.B.row(b, t)[n];
        }
        Real g = dh_final ? dh_final[offset] : 0, into_A = 0;
        for (std::int64_t t = shape.length - 1; t >= 0; --t) {
          const Real dt = in.dt.row(b, t)[d], x = in.x.row(b, t)[d], B = in.B.row(b, t)[n];
          g += dy.row(b, t)[d] * in.C.row(b, t)[n];
          add(out.C, b, t, n, dy.row(b, t)[d] * h[size(t + 1)]);
          add(out.B, b, t, n, g * dt * x);
          add(out.x, b, t, d, g * dt * B);
          const Real into_input = g * x * B;
          g *= std::exp(dt * A);
          add(out.dt, b, t, d, into_input + g * A * h[size(t)]);
          into_A += g * dt * h[size(t)];
        }
        if (out.A != nullptr) {
          out.A[d * shape.d_state + n] += into_A;
        }
        if (out.h0 != nullptr) {
          out.h0[offset] = g;
        }
      }
    }
  }
}

template void diagonal_scan_reference(const DiagonalScanShape&, const DiagonalScanInputs<float>&, Rows<float>, float*);
template void diagonal_scan_reference(const DiagonalScanShape&, const DiagonalScanInputs<double>&, Rows<double>,
                                      double*);
template void diagonal_scan_backward_reference(const DiagonalScanShape&, const DiagonalScanInputs<float>&,
                                               Rows<const float>, const float*, const DiagonalScanGradients<float>&);
template void diagonal_scan_backward_reference(const DiagonalScanShape&, const DiagonalScanInputs<double>&,
                                               Rows<const double>, const double*, const DiagonalScanGradients<double>&);

}  // namespace mambarium::kernels
