#include <cmath>
#include <limits>
#include <vector>

#include "core/kernels/coupled_scan.h"
#include "core/kernels/coupled_scan_rank.h"
#include "core/kernels/coupling_integral.h"

namespace mambarium::kernels {

namespace {

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

template <class Real>
void zero(const Rows<Real>& rows, const CoupledScanShape& shape, std::int64_t width) {
  for (std::int64_t b = 0; rows.data != nullptr && b < shape.batch; ++b) {
    for (std::int64_t t = 0; t < shape.length; ++t) {
      std::fill_n(rows.row(b, t), width, Real(0));
    }
  }
}

template <class Real>
void zero(Real* numbers, std::int64_t count) {
  if (numbers != nullptr) {
    std::fill_n(numbers, count, Real(0));
  }
}

template <class Real>
void add(const Rows<Real>& rows, std::int64_t b, std::int64_t t, std::int64_t column, Real value) {
  if (rows.data != nullptr) {
    rows.row(b, t)[column] += value;
  }
}

template <class Real>
void add(Real* numbers, std::int64_t index, Real value) {
  if (numbers != nullptr) {
    numbers[index] += value;
  }
}

// One channel of one sequence.
template <class Real>
struct Channel {
  Channel(const CoupledScanShape& s, const CoupledScanInputs<Real>& i, std::int64_t b_, std::int64_t d_)
      : shape(s),
        in(i),
        b(b_),
        d(d_),
        A(in.A + d * s.d_state),
        P(in.P + pair()),
        Q(in.Q + pair()),
        h0(in.h0 == nullptr ? nullptr : in.h0 + state()) {
    for (std::int64_t t = 0; t < s.length; ++t) {
      const Real dt_t = dt(t), input = dt_t * x(t);
      for (std::int64_t n = 0; n < s.d_state; ++n) {
        decays.push_back(std::exp(dt_t * A[n]));
        weights.push_back(s.form == CouplingForm::euler ? dt_t : coupling_integral(dt_t, A[n]));
        drives.push_back(input * in.B.row(b, t)[n]);
      }
    }
  }

  std::int64_t pair() const { return shape.per_channel ? d * shape.d_state * shape.rank : 0; }
  std::int64_t state() const { return (b * shape.channels + d) * shape.d_state; }

  Real first(std::int64_t n) const { return h0 == nullptr ? Real(0) : h0[n]; }
  Real dt(std::int64_t t) const { return in.dt.row(b, t)[d]; }
  Real x(std::int64_t t) const { return in.x.row(b, t)[d]; }
  Real decay(std::int64_t t, std::int64_t n) const { return decays[size(t * shape.d_state + n)]; }
  Real weight(std::int64_t t, std::int64_t n) const { return weights[size(t * shape.d_state + n)]; }

  void read(const Real* h, Real* z) const {  // z = Q h
    for (std::int64_t j = 0; j < shape.rank; ++j) {
      z[j] = 0;
      for (std::int64_t n = 0; n < shape.d_state; ++n) {
        z[j] += Q[j * shape.d_state + n] * h[n];
      }
    }
  }
  Real written(const Real* z, std::int64_t n) const {  // (P z)_n
    Real sum = 0;
    for (std::int64_t j = 0; j < shape.rank; ++j) {
      sum += P[n * shape.rank + j] * z[j];
    }
    return sum;
  }
  void step(std::int64_t t, const Real* before, const Real* z, Real* after) const {
    for (std::int64_t n = 0; n < shape.d_state; ++n) {
      const Real drive = drives[size(t * shape.d_state + n)];
      after[n] = decay(t, n) * before[n] + drive + weight(t, n) * written(z, n);
    }
  }
  Real output(std::int64_t t, const Real* h) const {
    Real sum = 0;
    for (std::int64_t n = 0; n < shape.d_state; ++n) {
      sum += in.C.row(b, t)[n] * h[n];
    }
    return sum;
  }

  const CoupledScanShape& shape;
  const CoupledScanInputs<Real>& in;
  std::int64_t b, d;
  const Real *A, *P, *Q, *h0;
  std::vector<Real> decays, weights, drives;  // [T, N]: exp(dt A), dt or phi, dt x B
};

template <class Work>
void for_each_channel(const CoupledScanShape& shape, const Work& work) {
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t d = 0; d < shape.channels; ++d) {
      work(b, d);
    }
  }
}

}  // namespace

template <class Real>
void coupled_scan_reference(const CoupledScanShape& shape, const CoupledScanInputs<Real>& in, Rows<Real> y,
                            Real* h_final, Rows<Real> latents) {
  expect_coupling_rank(shape);
  std::vector<Real> h(size(shape.d_state)), next(h), z(size(shape.rank));
  for_each_channel(shape, [&](std::int64_t b, std::int64_t d) {
    const Channel<Real> channel(shape, in, b, d);
    for (std::int64_t n = 0; n < shape.d_state; ++n) {
      h[size(n)] = channel.first(n);
    }
    channel.read(h.data(), z.data());
    for (std::int64_t t = 0; t < shape.length; ++t) {
      channel.step(t, h.data(), z.data(), next.data());
      h.swap(next);
      channel.read(h.data(), z.data());
      y.row(b, t)[d] = channel.output(t, h.data());
      if (latents.data != nullptr) {
        std::copy(z.begin(), z.end(), latents.row(b, t) + d * shape.rank);
      }
    }
    if (h_final != nullptr) {
      std::copy(h.begin(), h.end(), h_final + channel.state());
    }
  });
}

template <class Real>
void coupled_scan_backward_reference(const CoupledScanShape& shape, const CoupledScanInputs<Real>& in,
                                     Rows<const Real> dy, const Real* dh_final, const CoupledScanGradients<Real>& out) {
  expect_coupling_rank(shape);
  const std::int64_t N = shape.d_state, rank = shape.rank;
  const std::int64_t pairs = (shape.per_channel ? shape.channels : 1) * N * rank;
  zero(out.x, shape, shape.channels);
  zero(out.dt, shape, shape.channels);
  zero(out.B, shape, N);
  zero(out.C, shape, N);
  zero(out.A, shape.channels * N);
  zero(out.P, pairs);
  zero(out.Q, pairs);
  std::vector<Real> states(size((shape.length + 1) * N)), latents(size((shape.length + 1) * rank));
  std::vector<Real> g(size(N)), u(size(rank));
  const auto h = [&](std::int64_t t) { return states.data() + t * N; };  // before token t
  const auto z = [&](std::int64_t t) { return latents.data() + t * rank; };
  for_each_channel(shape, [&](std::int64_t b, std::int64_t d) {
    const Channel<Real> channel(shape, in, b, d);
    for (std::int64_t n = 0; n < N; ++n) {
      h(0)[n] = channel.first(n);
      g[size(n)] = dh_final == nullptr ? Real(0) : dh_final[channel.state() + n];
    }
    channel.read(h(0), z(0));
    for (std::int64_t t = 0; t < shape.length; ++t) {
      channel.step(t, h(t), z(t), h(t + 1));
      channel.read(h(t + 1), z(t + 1));
    }
    for (std::int64_t t = shape.length - 1; t >= 0; --t) {
      const Real dt = channel.dt(t), x = channel.x(t), dy_t = dy.row(b, t)[d];
      std::fill(u.begin(), u.end(), Real(0));  // P^T (weight . g)
      for (std::int64_t n = 0; n < N; ++n) {
        const Real A = channel.A[n], B = in.B.row(b, t)[n], decay = channel.decay(t, n), weight = channel.weight(t, n);
        Real& gn = g[size(n)];
        gn += dy_t * in.C.row(b, t)[n];
        add(out.C, b, t, n, dy_t * h(t + 1)[n]);
        add(out.B, b, t, n, gn * dt * x);
        add(out.x, b, t, d, gn * dt * B);
        add(out.dt, b, t, d, gn * (x * B + decay * A * h(t)[n]));
        add(out.A, d * N + n, gn * dt * decay * h(t)[n]);
        const Real written = channel.written(z(t), n);
        const bool euler = shape.form == CouplingForm::euler;
        add(out.dt, b, t, d, gn * written * (euler ? Real(1) : decay));
        add(out.A, d * N + n, euler ? Real(0) : gn * written * coupling_integral_by_A(dt, A));
        for (std::int64_t j = 0; j < rank; ++j) {
          u[size(j)] += channel.P[n * rank + j] * weight * gn;
          add(out.P, channel.pair() + n * rank + j, weight * gn * z(t)[j]);
        }
        gn *= decay;
      }
      for (std::int64_t j = 0; j < rank; ++j) {
        for (std::int64_t n = 0; n < N; ++n) {
          add(out.Q, channel.pair() + j * N + n, u[size(j)] * h(t)[n]);
          g[size(n)] += channel.Q[j * N + n] * u[size(j)];
        }
      }
    }
    if (out.h0 != nullptr) {
      std::copy(g.begin(), g.end(), out.h0 + channel.state());
    }
  });
}

template <class Real>
double coupled_scan_picard(const CoupledScanShape& shape, const CoupledScanInputs<Real>& in, int corrections,
                           Rows<Real> y, Real* h_final) {
  expect_coupling_rank(shape);
  const std::int64_t N = shape.d_state, rank = shape.rank;
  std::vector<Real> h(size(N)), next(h), before(size((shape.length + 1) * rank)), after(before);
  double change = 0, largest = 0;
  for_each_channel(shape, [&](std::int64_t b, std::int64_t d) {
    const Channel<Real> channel(shape, in, b, d);
    std::fill(before.begin(), before.end(), Real(0));
    for (int scan = 0; scan <= corrections; ++scan) {
      for (std::int64_t n = 0; n < N; ++n) {
        h[size(n)] = channel.first(n);
      }
      channel.read(h.data(), after.data());
      for (std::int64_t t = 0; t < shape.length; ++t) {
        channel.step(t, h.data(), before.data() + t * rank, next.data());
        h.swap(next);
        channel.read(h.data(), after.data() + (t + 1) * rank);
        const Real found = channel.output(t, h.data());
        if (scan > 0 && scan == corrections) {
          change = std::max(change, std::abs(static_cast<double>(found - y.row(b, t)[d])));
          largest = std::max(largest, std::abs(static_cast<double>(found)));
        }
        y.row(b, t)[d] = found;
      }
      before.swap(after);
    }
    if (h_final != nullptr) {
      std::copy(h.begin(), h.end(), h_final + channel.state());
    }
  });
  if (corrections == 0) {
    return std::numeric_limits<double>::infinity();
  }
  return change == 0 ? 0 : change / largest;
}

template void coupled_scan_reference(const CoupledScanShape&, const CoupledScanInputs<float>&, Rows<float>, float*,
                                     Rows<float>);
template void coupled_scan_reference(const CoupledScanShape&, const CoupledScanInputs<double>&, Rows<double>, double*,
                                     Rows<double>);
template void coupled_scan_backward_reference(const CoupledScanShape&, const CoupledScanInputs<float>&,
                                              Rows<const float>, const float*, const CoupledScanGradients<float>&);
template void coupled_scan_backward_reference(const CoupledScanShape&, const CoupledScanInputs<double>&,
                                              Rows<const double>, const double*, const CoupledScanGradients<double>&);
template double coupled_scan_picard(const CoupledScanShape&, const CoupledScanInputs<float>&, int, Rows<float>, float*);
template double coupled_scan_picard(const CoupledScanShape&, const CoupledScanInputs<double>&, int, Rows<double>,
                                    double*);

}  // namespace mambarium::kernels
