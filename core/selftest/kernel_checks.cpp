#include "core/selftest/kernel_checks.h"

#include <array>
#include <random>

#include "core/kernels/coupled_scan.h"
#include "core/kernels/diagonal_scan.h"
#include "core/kernels/rms_norm.h"
#include "core/kernels/softmax_cross_entropy.h"
#include "core/selftest/checks.h"

namespace mambarium {

namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

// Drawn in float32, so that both sides start from the same numbers.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : generator_(seed) {}
  Floats normal(std::int64_t count, float spread = 1) {
    std::normal_distribution<float> draw(0, spread);
    return drawn(count, [&] { return draw(generator_); });
  }
  Floats uniform(std::int64_t count, float low, float high) {
    std::uniform_real_distribution<float> draw(low, high);
    return drawn(count, [&] { return draw(generator_); });
  }

 private:
  template <class Next>
  static Floats drawn(std::int64_t count, const Next& next) {
    Floats numbers(static_cast<std::size_t>(count));
    std::ranges::generate(numbers, next);
    return numbers;
  }
  std::mt19937_64 generator_;
};

double difference(const Floats& found, const Doubles& expected) {
  double largest = 1e-6, off = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    off = worse(off, std::abs(static_cast<double>(found[i]) - expected[i]));
  }
  return off / largest;
}

// The same arrays in float32 and float64.
template <class Real, std::size_t count>
std::array<std::vector<Real>, count> copies(const std::array<Floats, count>& drawn) {
  std::array<std::vector<Real>, count> all;
  for (std::size_t i = 0; i < count; ++i) all[i].assign(drawn[i].begin(), drawn[i].end());
  return all;
}

// Inputs x, dt, B, C, A, dy; results y and the gradients of x, dt, B, C, A.
template <class Real>
std::array<std::vector<Real>, 6> scanned(const kernels::DiagonalScanShape& s, const std::array<Floats, 6>& drawn) {
  auto in = copies<Real>(drawn), out = in;
  const auto rows = [&](std::vector<Real>& numbers, std::int64_t width) {
    return kernels::Rows<Real>{numbers.data(), s.length * width, width};
  };
  const kernels::DiagonalScanInputs<Real> inputs{rows(in[0], s.channels), rows(in[1], s.channels),
                                                 rows(in[2], s.d_state), rows(in[3], s.d_state), in[4].data()};
  std::vector<Real> y(in[0]);
  const kernels::DiagonalScanGradients<Real> gradients{rows(out[0], s.channels), rows(out[1], s.channels),
                                                       rows(out[2], s.d_state), rows(out[3], s.d_state), out[4].data()};
  if constexpr (std::is_same_v<Real, double>) {
    kernels::diagonal_scan_reference<double>(s, inputs, rows(y, s.channels), nullptr);
    kernels::diagonal_scan_backward_reference<double>(s, inputs, rows(in[5], s.channels), nullptr, gradients);
  } else {
    Floats checkpoints(static_cast<std::size_t>(kernels::diagonal_scan_checkpoints(s)));
    kernels::diagonal_scan(s, inputs, rows(y, s.channels), nullptr, checkpoints.data(), 1);
    kernels::diagonal_scan_backward(s, inputs, checkpoints.data(), rows(in[5], s.channels), nullptr, gradients, 1);
  }
  out[5] = std::move(y);
  return out;
}

// Inputs x, dt, B, C, A, P, Q, dy; results y and the gradients of x, dt, B, C, A, P, Q.
template <class Real>
std::array<std::vector<Real>, 8> scanned(const kernels::CoupledScanShape& s, const std::array<Floats, 8>& drawn) {
  auto in = copies<Real>(drawn), out = in;
  const auto rows = [&](std::vector<Real>& numbers, std::int64_t width) {
    return kernels::Rows<Real>{numbers.data(), s.length * width, width};
  };
  const kernels::CoupledScanInputs<Real> inputs{rows(in[0], s.channels),
                                                rows(in[1], s.channels),
                                                rows(in[2], s.d_state),
                                                rows(in[3], s.d_state),
                                                in[4].data(),
                                                in[5].data(),
                                                in[6].data()};
  std::vector<Real> y(in[0]);
  const kernels::CoupledScanGradients<Real> gradients{rows(out[0], s.channels),
                                                      rows(out[1], s.channels),
                                                      rows(out[2], s.d_state),
                                                      rows(out[3], s.d_state),
                                                      out[4].data(),
                                                      out[5].data(),
                                                      out[6].data()};
  if constexpr (std::is_same_v<Real, double>) {
    kernels::coupled_scan_reference<double>(s, inputs, rows(y, s.channels), nullptr);
    kernels::coupled_scan_backward_reference<double>(s, inputs, rows(in[7], s.channels), nullptr, gradients);
  } else {
    Floats checkpoints(static_cast<std::size_t>(kernels::coupled_scan_checkpoints(s)));
    kernels::coupled_scan(s, inputs, rows(y, s.channels), nullptr, {}, checkpoints.data(), 1);
    kernels::coupled_scan_backward(s, inputs, checkpoints.data(), rows(in[7], s.channels), nullptr, gradients, 1);
  }
  out[7] = std::move(y);
  return out;
}

// Results: out and the gradients of in, gate and weight.
template <class Real>
std::array<std::vector<Real>, 4> normed(const kernels::RmsNormShape& shape, bool gated,
                                        const std::array<Floats, 4>& drawn) {
  auto in = copies<Real>(drawn), out = in;
  const auto rows = [&](std::vector<Real>& numbers) { return kernels::Strided<Real>{numbers.data(), shape.width}; };
  const auto gate = gated ? rows(in[1]) : kernels::Strided<Real>{};
  const kernels::RmsNormGradients<Real> gradients{rows(out[0]), gated ? rows(out[1]) : kernels::Strided<Real>{},
                                                  out[2].data()};
  if constexpr (std::is_same_v<Real, double>) {
    kernels::rms_norm_reference<double>(shape, rows(in[0]), gate, in[2].data(), rows(out[3]));
    kernels::rms_norm_backward_reference<double>(shape, rows(in[0]), gate, in[2].data(), rows(in[3]), gradients);
  } else {
    kernels::rms_norm(shape, rows(in[0]), gate, in[2].data(), rows(out[3]));
    kernels::rms_norm_backward(shape, rows(in[0]), gate, in[2].data(), rows(in[3]), gradients);
  }
  return out;
}

template <class Results, class Expected>
void add_all(Checks& checks, const char* const* names, const Results& found, const Expected& expected) {
  for (std::size_t i = 0; i < found.size(); ++i) checks.add(names[i], difference(found[i], expected[i]));
}

}  // namespace

std::vector<SelftestCheck> check_diagonal_scan(const std::string& instructions) {
  static constexpr const char* names[] = {"gradient of x", "gradient of dt", "gradient of B",
                                          "gradient of C", "gradient of A",  "y"};
  Checks checks("Mamba-1 scan");
  constexpr kernels::DiagonalScanShape shapes[] = {{2, 1, 3, 16},   {3, 7, 5, 4},     {1, 300, 16, 16},
                                                   {2, 513, 17, 7}, {1, 1024, 64, 3}, {2, 130, 1, 100}};
  std::uint64_t seed = 0;
  for (const auto& s : shapes) {
    Draw draw(++seed);
    const std::int64_t wide = s.batch * s.length * s.channels, narrow = s.batch * s.length * s.d_state;
    std::array<Floats, 6> drawn = {draw.normal(wide),
                                   draw.uniform(wide, -9, 2),
                                   draw.normal(narrow),
                                   draw.normal(narrow),
                                   draw.uniform(s.channels * s.d_state, 0, 2.7f),
                                   draw.normal(wide)};
    // From next to nothing to what forgets everything, with steps of exactly 0 and decays of exactly 0 between.
    for (std::size_t i = 0; i < drawn[1].size(); ++i) {
      float& dt = drawn[1][i];
      dt = i % 10 == 3 ? 0 : i % 10 == 7 ? 1e4f : std::exp(dt);
    }
    for (float& A : drawn[4]) A = -std::exp(A);
    add_all(checks, names, scanned<float>(s, drawn), scanned<double>(s, drawn));
  }
  return checks.all(instructions);
}

std::vector<SelftestCheck> check_coupled_scan(const std::string& instructions) {
  static constexpr const char* names[] = {"gradient of x", "gradient of dt", "gradient of B", "gradient of C",
                                          "gradient of A", "gradient of P",  "gradient of Q", "y"};
  Checks checks("coupled scan");
  using enum kernels::CouplingForm;
  constexpr kernels::CoupledScanShape shapes[] = {{2, 1, 3, 16, 1, false, euler},    {3, 7, 5, 4, 3, true, etd},
                                                  {1, 300, 16, 16, 2, false, euler}, {2, 513, 17, 7, 2, true, euler},
                                                  {1, 1024, 64, 3, 4, false, etd},   {2, 130, 1, 100, 16, false, etd}};
  std::uint64_t seed = 0;
  for (const auto& s : shapes) {
    Draw draw(++seed);
    const std::int64_t wide = s.batch * s.length * s.channels, narrow = s.batch * s.length * s.d_state;
    const std::int64_t states = s.channels * s.d_state, pairs = (s.per_channel ? states : s.d_state) * s.rank;
    // The coupling contracts, of euler with the largest step too.
    const float strength = (s.form == etd ? 0.5f : 0.05f) / static_cast<float>(s.d_state * s.rank);
    std::array<Floats, 8> drawn = {draw.normal(wide),
                                   draw.uniform(wide, -9, 2),
                                   draw.normal(narrow),
                                   draw.normal(narrow),
                                   draw.uniform(states, 0, 2.7f),
                                   draw.normal(pairs, strength),
                                   draw.normal(pairs),
                                   draw.normal(wide)};
    for (std::size_t i = 0; i < drawn[1].size(); ++i) {
      float& dt = drawn[1][i];
      dt = i % 10 == 3 ? 0 : i % 10 == 7 && s.form == etd ? 1e4f : std::exp(dt);
    }
    for (float& A : drawn[4]) A = -std::exp(A);
    add_all(checks, names, scanned<float>(s, drawn), scanned<double>(s, drawn));
  }
  return checks.all(instructions);
}

std::vector<SelftestCheck> check_softmax_cross_entropy(const std::string& instructions) {
  Checks checks("vocabulary");
  for (const auto& [vocabulary, width, spread] :
       {std::tuple{5, 5, 1.0f}, {257, 264, 30.0f}, {4000, 4000, 3.0f}, {50277, 50288, 1.0f}}) {
    constexpr std::int64_t rows = 4;
    const kernels::SoftmaxShape shape{.rows = rows, .vocabulary = vocabulary, .width = width};
    Floats logits = Draw(static_cast<std::uint64_t>(width)).normal(rows * width, spread), gradient(logits.size());
    Doubles exact(logits.begin(), logits.end()), expected(exact.size());
    const std::int64_t targets[rows] = {vocabulary - 1, kernels::ignored_target, 0, vocabulary / 2};
    const double loss =
        kernels::softmax_cross_entropy(shape, {logits.data(), width}, targets, {gradient.data(), width}, 1);
    const double expected_loss = kernels::softmax_cross_entropy_reference<double>(shape, {exact.data(), width}, targets,
                                                                                  {expected.data(), width});
    checks.add("loss", std::abs(loss - expected_loss) / expected_loss);
    checks.add("gradient of the logits", difference(gradient, expected));
  }
  return checks.all(instructions);
}

std::vector<SelftestCheck> check_rms_norm(const std::string& instructions) {
  static constexpr const char* names[] = {"gradient of the input", "gradient of the gate", "gradient of the gain",
                                          "out"};
  Checks checks("RMSNorm");
  for (const auto& [width, groups] : {std::pair{3, 1}, {16, 2}, {70, 2}, {192, 3}, {1024, 1}}) {
    for (const auto& [gated, before] : {std::pair{false, false}, {true, false}, {true, true}}) {
      constexpr std::int64_t length = 9;
      const kernels::RmsNormShape shape{.length = length, .width = width, .groups = groups, .norm_before_gate = before};
      Draw draw(static_cast<std::uint64_t>(width));
      const std::array<Floats, 4> drawn = {draw.normal(length * width, 2), draw.normal(length * width, 2),
                                           draw.normal(width), draw.normal(length * width)};
      add_all(checks, names, normed<float>(shape, gated, drawn), normed<double>(shape, gated, drawn));
    }
  }
  return checks.all(instructions);
}

}  // namespace mambarium
