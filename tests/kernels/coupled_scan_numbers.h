// Inputs, outputs and gradients of a coupled scan, drawn at random, and the two ways to compute the latter.
#pragma once

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "core/kernels/coupled_scan.h"
#include "tests/kernels/scan_array.h"

namespace mambarium::kernels {

template <class Real>
struct CoupledNumbers {
  Array<Real> x, dt, A, B, C, P, Q, h0, dy, dh;           // in
  Array<Real> y, h, z, dx, ddt, dA, dB, dC, dP, dQ, dh0;  // out

  CoupledNumbers(const CoupledScanShape& s, std::int64_t gap)
      : x(s.batch, s.length, s.channels, gap),
        dt(s.batch, s.length, s.channels, 2 * gap),
        A(1, s.channels, s.d_state),
        B(s.batch, s.length, s.d_state, gap),
        C(s.batch, s.length, s.d_state, 3 * gap),
        P(s.per_channel ? s.channels : 1, s.d_state, s.rank),
        Q(s.per_channel ? s.channels : 1, s.rank, s.d_state),
        h0(s.batch, s.channels, s.d_state),
        dy(x),
        dh(h0),
        y(s.batch, s.length, s.channels, gap),
        h(h0),
        z(s.batch, s.length, s.channels * s.rank, gap),
        dx(y),
        ddt(dt),
        dA(A),
        dB(B),
        dC(C),
        dP(P),
        dQ(Q),
        dh0(h0) {}
  template <class Other>
  explicit CoupledNumbers(const CoupledNumbers<Other>& o)
      : x(o.x),
        dt(o.dt),
        A(o.A),
        B(o.B),
        C(o.C),
        P(o.P),
        Q(o.Q),
        h0(o.h0),
        dy(o.dy),
        dh(o.dh),
        y(o.y),
        h(o.h),
        z(o.z),
        dx(o.dx),
        ddt(o.ddt),
        dA(o.dA),
        dB(o.dB),
        dC(o.dC),
        dP(o.dP),
        dQ(o.dQ),
        dh0(o.dh0) {}

  std::vector<std::pair<const char*, Array<Real>*>> outputs() {
    return {{"y", &y},   {"h", &h},   {"z", &z},   {"dx", &dx}, {"ddt", &ddt}, {"dA", &dA},
            {"dB", &dB}, {"dC", &dC}, {"dP", &dP}, {"dQ", &dQ}, {"dh0", &dh0}};
  }
  std::vector<std::pair<Array<Real>*, Array<Real>*>> inputs_and_gradients() {
    return {{&x, &dx}, {&dt, &ddt}, {&A, &dA}, {&B, &dB}, {&C, &dC}, {&P, &dP}, {&Q, &dQ}, {&h0, &dh0}};
  }
  CoupledScanInputs<Real> inputs() const {
    return {std::as_const(x).rows(),
            std::as_const(dt).rows(),
            std::as_const(B).rows(),
            std::as_const(C).rows(),
            A.data(),
            P.data(),
            Q.data(),
            h0.data()};
  }
  CoupledScanGradients<Real> gradients() {
    return {dx.rows(), ddt.rows(), dB.rows(), dC.rows(), dA.data(), dP.data(), dQ.data(), dh0.data()};
  }
};

enum class Steps { usual, tiny, huge, mixed };
inline constexpr Steps all_steps[] = {Steps::usual, Steps::tiny, Steps::huge, Steps::mixed};

// Exponents dt A: up to -1.5, -1.5e-5 or -1.5e5, or any size between and 0 from one token to the next. One state in
// five (etd: where phi has its branches) hardly decays or not at all. The coupling contracts; Euler's, with the largest
// step.
inline CoupledNumbers<float> random_numbers(const CoupledScanShape& shape, std::int64_t gap, Steps steps,
                                            std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform;
  CoupledNumbers<float> in(shape, gap);
  const auto fill = [](Array<float>& array, const auto& draw) {
    for (std::int64_t i = 0; i < array.count(); ++i) {
      array[i] = draw();
    }
  };
  for (Array<float>* array : {&in.x, &in.B, &in.C, &in.h0, &in.dy, &in.dh, &in.Q}) {
    fill(*array, [&] { return normal(generator); });
  }
  const float largest_step = steps == Steps::huge ? 1e4f : steps == Steps::mixed ? 1e3f : 1.0f;
  const bool etd = shape.form == CouplingForm::etd;
  const float strength = (etd ? 0.5f : 0.5f / largest_step) / static_cast<float>(shape.d_state * shape.rank);
  fill(in.P, [&] { return strength * normal(generator); });
  fill(in.A, [&] { return -std::exp(2.7f * uniform(generator)); });
  for (std::int64_t i = 0; etd && steps != Steps::huge && steps != Steps::mixed && i < in.A.count(); i += 5) {
    const float slow[] = {0.0f, -1e-30f, -1e-9f, -1e-3f};
    in.A[i] = slow[i / 5 % 4];
  }
  fill(in.dt, [&]() -> float {
    const float scales[] = {0.1f, 1e-6f, 1e4f};
    if (steps == Steps::mixed) {
      return generator() % 8 == 0 ? 0.0f : std::pow(10.0f, -7.0f + 10.0f * uniform(generator));
    }
    return scales[static_cast<int>(steps)] * uniform(generator);
  });
  return in;
}

template <class Real>
void reference(const CoupledScanShape& shape, CoupledNumbers<Real>& n) {
  coupled_scan_reference<Real>(shape, n.inputs(), n.y.rows(), n.h.data(), n.z.rows());
  coupled_scan_backward_reference<Real>(shape, n.inputs(), std::as_const(n.dy).rows(), n.dh.data(), n.gradients());
}

inline void fast(const CoupledScanShape& shape, CoupledNumbers<float>& n, int threads = 1, bool keep = true) {
  std::vector<float> checkpoints(static_cast<std::size_t>(coupled_scan_checkpoints(shape)));
  float* kept = keep ? checkpoints.data() : nullptr;
  coupled_scan(shape, n.inputs(), n.y.rows(), n.h.data(), n.z.rows(), kept, threads);
  coupled_scan_backward(shape, n.inputs(), kept, std::as_const(n.dy).rows(), n.dh.data(), n.gradients(), threads);
}

}  // namespace mambarium::kernels
