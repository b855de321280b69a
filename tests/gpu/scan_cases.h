// Scans of random inputs and what they should give in float64, for the tests of gpu/: whoever computes them.
#pragma once

#include <string>

#include "core/kernels/diagonal_scan.h"
#include "core/kernels/selective_scan.h"
#include "gpu/scan_plan.h"
#include "tests/gpu/numbers.h"

namespace mambarium::gpu {

enum class Decays { near_one, uniform, extreme };

inline std::string description(const kernels::ScanShape& s, const char* what) {
  return std::string(what) + " of batch " + std::to_string(s.batch) + " T " + std::to_string(s.length) + " H " +
         std::to_string(s.heads) + " P " + std::to_string(s.headdim) + " N " + std::to_string(s.d_state);
}

// One scan: inputs, incoming gradients, and the outputs that somebody writes. dt and a have a number per head for
// Mamba-2; for Mamba-1 dt has one per channel, and A stands in place of a.
struct ScanCase {
  ScanCase(const kernels::ScanShape& shape_, bool diagonal_, Decays decays, std::int64_t gap, std::uint64_t seed)
      : shape(shape_),
        diagonal(diagonal_),
        x(shape.batch, shape.length, channels(), gap),
        dt(shape.batch, shape.length, diagonal ? channels() : shape.heads, 2 * gap),
        a(shape.batch, shape.length, diagonal ? 0 : shape.heads, gap),
        B(shape.batch, shape.length, shape.d_state, gap),
        C(shape.batch, shape.length, shape.d_state, 3 * gap),
        A(1, diagonal ? channels() : 0, shape.d_state),
        h0(shape.batch, channels(), shape.d_state),
        dy(x),
        dh(h0),
        y(x),
        h(h0),
        dx(x),
        ddt(dt),
        da(a),
        dB(B),
        dC(C),
        dA(A),
        dh0(h0) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> uniform;
    for (auto* of : {&x, &B, &C, &h0, &dy, &dh}) of->fill([&] { return normal(generator); });
    dt.fill([&] { return uniform(generator); });
    // Rates of -1e6 make a_t exactly 0.
    A.fill([&] {
      const float extremes[] = {-1e6f, -100.0f, -1.0f, -1e-3f, 0.0f};
      return decays == Decays::extreme ? extremes[generator() % 5]
                                       : (decays == Decays::uniform ? -2.0f : -0.02f) * uniform(generator);
    });
    a.fill([&]() -> float {
      const float extremes[] = {0.0f, 1e-30f, 1e-10f, 1e-3f, 0.5f, 0.999f, 1.0f};
      if (decays == Decays::extreme) return extremes[generator() % 7];
      return decays == Decays::uniform ? uniform(generator) : 1.0f - 0.02f * uniform(generator);
    });
  }
  std::int64_t channels() const { return shape.heads * shape.headdim; }

  // What has been written, by name.
  std::vector<std::pair<const char*, const Table<float>*>> outputs() const {
    std::vector<std::pair<const char*, const Table<float>*>> result{
        {"y", &y}, {"h", &h}, {"dx", &dx}, {"ddt", &ddt}, {"dB", &dB}, {"dC", &dC}, {"dh0", &dh0}};
    result.emplace_back(diagonal ? std::pair{"dA", &dA} : std::pair{"da", &da});
    return result;
  }

  kernels::ScanShape shape;
  bool diagonal;
  Table<float> x, dt, a, B, C, A, h0, dy, dh;
  Table<float> y, h, dx, ddt, da, dB, dC, dA, dh0;
};

// In the order of outputs(), by core/kernels' float64 references.
inline std::vector<std::vector<double>> diagonal_reference(const ScanCase& in) {
  auto x = in.x.doubles(), dt = in.dt.doubles(), B = in.B.doubles(), C = in.C.doubles(), A = in.A.doubles();
  auto h0 = in.h0.doubles(), dy = in.dy.doubles(), dh = in.dh.doubles();
  auto y = x, h = h0, dx = x, ddt = dt, dB = B, dC = C, dA = A, dh0 = h0;
  const kernels::DiagonalScanShape shape{in.shape.batch, in.shape.length, in.channels(), in.shape.d_state};
  const kernels::DiagonalScanInputs<double> inputs{x.rows(), dt.rows(),        B.rows(),
                                                   C.rows(), A.numbers.data(), h0.numbers.data()};
  kernels::diagonal_scan_reference<double>(shape, inputs, y.rows(), h.numbers.data());
  kernels::diagonal_scan_backward_reference<double>(
      shape, inputs, dy.rows(), dh.numbers.data(),
      {dx.rows(), ddt.rows(), dB.rows(), dC.rows(), dA.numbers.data(), dh0.numbers.data()});
  return {y.values(), h.values(), dx.values(), ddt.values(), dB.values(), dC.values(), dh0.values(), dA.values()};
}

inline std::vector<std::vector<double>> scan_reference(const ScanCase& in) {
  if (in.diagonal) return diagonal_reference(in);
  auto x = in.x.doubles(), dt = in.dt.doubles(), a = in.a.doubles(), B = in.B.doubles(), C = in.C.doubles();
  auto h0 = in.h0.doubles(), dy = in.dy.doubles(), dh = in.dh.doubles();
  auto y = x, h = h0, dx = x, ddt = dt, da = a, dB = B, dC = C, dh0 = h0;
  const kernels::ScanInputs<double> inputs{x.rows(), dt.rows(), a.rows(), B.rows(), C.rows(), h0.numbers.data()};
  kernels::selective_scan_reference<double>(in.shape, inputs, y.rows(), h.numbers.data());
  kernels::selective_scan_backward_reference<double>(
      in.shape, inputs, dy.rows(), dh.numbers.data(),
      {dx.rows(), ddt.rows(), da.rows(), dB.rows(), dC.rows(), dh0.numbers.data()});
  return {y.values(), h.values(), dx.values(), ddt.values(), dB.values(), dC.values(), dh0.values(), da.values()};
}

// Whether all outputs are within 2e-5 of the reference; else the complaint says which is not.
inline bool scan_agrees(const ScanCase& found, double& largest, std::string& complaint) {
  const auto expected = scan_reference(found);
  const auto outputs = found.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double off = relative_difference(outputs[i].second->values(), expected[i]);
    largest = std::max(largest, off);
    if (off <= 2e-5 && outputs[i].second->gaps_untouched()) continue;
    complaint = description(found.shape, outputs[i].first) + " is off by " + std::to_string(off);
    return false;
  }
  return true;
}

}  // namespace mambarium::gpu
