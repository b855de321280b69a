#include <vector>

#include "core/kernels/selective_scan.h"

namespace mambarium::kernels {

namespace {

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

template <class Real>
void zero(const Rows<Real>& rows, std::int64_t b, std::int64_t t, std::int64_t width) {
  for (std::int64_t i = 0; rows.data != nullptr && i < width; ++i) {
    rows.row(b, t)[i] = 0;
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
void selective_scan_reference(const ScanShape& shape, const ScanInputs<Real>& in, Rows<Real> y, Real* h_final) {
  const std::int64_t channels = shape.heads * shape.headdim, states = shape.d_state;
  std::vector<Real> h(size(states));
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t head = c / shape.headdim, offset = (b * channels + c) * states;
      const std::int64_t shared = head / (shape.heads / shape.groups) * states;  // where the group's B and C begin
      for (std::int64_t n = 0; n < states; ++n) {
        h[size(n)] = in.h0 ? in.h0[offset + n] : 0;
      }
      for (std::int64_t t = 0; t < shape.length; ++t) {
        const Real a = in.a.row(b, t)[head], scaled = in.dt.row(b, t)[head] * in.x.row(b, t)[c];
        Real sum = 0;
        for (std::int64_t n = 0; n < states; ++n) {
          h[size(n)] = a * h[size(n)] + scaled * in.B.row(b, t)[shared + n];
          sum += h[size(n)] * in.C.row(b, t)[shared + n];
        }
        y.row(b, t)[c] = sum;
      }
      for (std::int64_t n = 0; h_final && n < states; ++n) {
        h_final[offset + n] = h[size(n)];
      }
    }
  }
}

template <class Real>
void selective_scan_backward_reference(const ScanShape& shape, const ScanInputs<Real>& in, Rows<const Real> dy,
                                       const Real* dh_final, const ScanGradients<Real>& out) {
  const std::int64_t channels = shape.heads * shape.headdim, states = shape.d_state, length = shape.length;
  std::vector<Real> h(size((length + 1) * states)), g(size(states));
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t t = 0; t < length; ++t) {
      zero(out.dt, b, t, shape.heads);
      zero(out.a, b, t, shape.heads);
      zero(out.B, b, t, shape.groups * states);
      zero(out.C, b, t, shape.groups * states);
    }
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t head = c / shape.headdim, offset = (b * channels + c) * states;
      const std::int64_t shared = head / (shape.heads / shape.groups) * states;  // where the group's B and C begin
      const auto state = [&](std::int64_t t, std::int64_t n) -> Real& { return h[size((t + 1) * states + n)]; };
      for (std::int64_t n = 0; n < states; ++n) {
        state(-1, n) = in.h0 ? in.h0[offset + n] : 0;
        g[size(n)] = dh_final ? dh_final[offset + n] : 0;
        for (std::int64_t t = 0; t < length; ++t) {
          state(t, n) = in.a.row(b, t)[head] * state(t - 1, n) +
                        in.dt.row(b, t)[head] * in.x.row(b, t)[c] * in.B.row(b, t)[shared + n];
        }
      }
      for (std::int64_t t = length - 1; t >= 0; --t) {
        const Real a = in.a.row(b, t)[head], dt = in.dt.row(b, t)[head], x = in.x.row(b, t)[c];
        Real into_input = 0, into_decay = 0;
        for (std::int64_t n = 0; n < states; ++n) {
          Real& gradient = g[size(n)];
          gradient += dy.row(b, t)[c] * in.C.row(b, t)[shared + n];
          add(out.C, b, t, shared + n, dy.row(b, t)[c] * state(t, n));
          add(out.B, b, t, shared + n, gradient * dt * x);
          into_input += gradient * in.B.row(b, t)[shared + n];
          into_decay += gradient * state(t - 1, n);
          gradient *= a;
        }
        if (out.x.data != nullptr) {
          out.x.row(b, t)[c] = into_input * dt;
        }
        add(out.dt, b, t, head, into_input * x);
        add(out.a, b, t, head, into_decay);
      }
      for (std::int64_t n = 0; out.h0 && n < states; ++n) {
        out.h0[offset + n] = g[size(n)];
      }
    }
  }
}

template void selective_scan_reference(const ScanShape&, const ScanInputs<float>&, Rows<float>, float*);
template void selective_scan_reference(const ScanShape&, const ScanInputs<double>&, Rows<double>, double*);
template void selective_scan_backward_reference(const ScanShape&, const ScanInputs<float>&, Rows<const float>,
                                                const float*, const ScanGradients<float>&);
template void selective_scan_backward_reference(const ScanShape&, const ScanInputs<double>&, Rows<const double>,
                                                const double*, const ScanGradients<double>&);

}  // namespace mambarium::kernels
