// The scan with one decay per channel and state: the fast one against float64, the reference against finite
// differences.
#include <QTest>
#include <cmath>
#include <random>
#include <vector>

#include "core/kernels/diagonal_scan.h"
#include "core/kernels/simd.h"
#include "tests/kernels/scan_array.h"

using namespace mambarium::kernels;

namespace {

constexpr double tolerance = 2e-5;  // decays are rounded to float32, whatever follows

template <class Real>
struct Numbers {
  Array<Real> x, dt, A, B, C, h0, dy, dh;      // in
  Array<Real> y, h, dx, ddt, dA, dB, dC, dh0;  // out
  std::vector<std::pair<const char*, Array<Real>*>> outputs() {
    return {{"y", &y}, {"h", &h}, {"dx", &dx}, {"ddt", &ddt}, {"dA", &dA}, {"dB", &dB}, {"dC", &dC}, {"dh0", &dh0}};
  }
  std::vector<std::pair<Array<Real>*, Array<Real>*>> inputs_and_gradients() {
    return {{&x, &dx}, {&dt, &ddt}, {&A, &dA}, {&B, &dB}, {&C, &dC}, {&h0, &dh0}};
  }
  DiagonalScanInputs<Real> inputs() const {
    return {std::as_const(x).rows(),
            std::as_const(dt).rows(),
            std::as_const(B).rows(),
            std::as_const(C).rows(),
            A.data(),
            h0.data()};
  }
  DiagonalScanGradients<Real> gradients() {
    return {dx.rows(), ddt.rows(), dB.rows(), dC.rows(), dA.data(), dh0.data()};
  }
  Numbers(const DiagonalScanShape& s, std::int64_t gap)
      : x(s.batch, s.length, s.channels, gap),
        dt(s.batch, s.length, s.channels, 2 * gap),
        A(1, s.channels, s.d_state),
        B(s.batch, s.length, s.d_state, gap),
        C(s.batch, s.length, s.d_state, 3 * gap),
        h0(s.batch, s.channels, s.d_state),
        dy(x),
        dh(h0),
        y(s.batch, s.length, s.channels, gap),
        h(h0),
        dx(y),
        ddt(dt),
        dA(A),
        dB(B),
        dC(C),
        dh0(h0) {}
  template <class Other>
  explicit Numbers(const Numbers<Other>& o)
      : x(o.x),
        dt(o.dt),
        A(o.A),
        B(o.B),
        C(o.C),
        h0(o.h0),
        dy(o.dy),
        dh(o.dh),
        y(o.y),
        h(o.h),
        dx(o.dx),
        ddt(o.ddt),
        dA(o.dA),
        dB(o.dB),
        dC(o.dC),
        dh0(o.dh0) {}
};

enum class Steps { usual, tiny, huge, mixed };

// Exponents dt A: up to -1.5, -1.5e-5 or -1.5e5, or any size between and 0 from one token to the next.
Numbers<float> random_numbers(const DiagonalScanShape& shape, std::int64_t gap, Steps steps, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform;
  Numbers<float> in(shape, gap);
  const auto fill = [](Array<float>& array, const auto& draw) {
    for (std::int64_t i = 0; i < array.count(); ++i) {
      array[i] = draw();
    }
  };
  for (Array<float>* array : {&in.x, &in.B, &in.C, &in.h0, &in.dy, &in.dh}) {
    fill(*array, [&] { return normal(generator); });
  }
  fill(in.A, [&] { return -std::exp(2.7f * uniform(generator)); });
  fill(in.dt, [&]() -> float {
    const float scales[] = {0.1f, 1e-6f, 1e4f};
    if (steps == Steps::mixed) {
      return generator() % 8 == 0 ? 0.0f : std::pow(10.0f, -7.0f + 10.0f * uniform(generator));
    }
    return scales[static_cast<int>(steps)] * uniform(generator);
  });
  return in;
}

void reference(const DiagonalScanShape& shape, Numbers<double>& n) {
  diagonal_scan_reference<double>(shape, n.inputs(), n.y.rows(), n.h.data());
  diagonal_scan_backward_reference<double>(shape, n.inputs(), std::as_const(n.dy).rows(), n.dh.data(), n.gradients());
}

void fast(const DiagonalScanShape& shape, Numbers<float>& n, int threads = 1, bool keep = true) {
  std::vector<float> checkpoints(static_cast<std::size_t>(diagonal_scan_checkpoints(shape)));
  float* kept = keep ? checkpoints.data() : nullptr;
  diagonal_scan(shape, n.inputs(), n.y.rows(), n.h.data(), kept, threads);
  diagonal_scan_backward(shape, n.inputs(), kept, std::as_const(n.dy).rows(), n.dh.data(), n.gradients(), threads);
}

double largest_difference(const DiagonalScanShape& shape, std::int64_t gap, Steps steps, std::uint64_t seed) {
  auto found = random_numbers(shape, gap, steps, seed);
  Numbers<double> expected(found);
  fast(shape, found);
  reference(shape, expected);
  double largest = 0;
  for (std::size_t index = 0; index < expected.outputs().size(); ++index) {
    const auto [name, array] = found.outputs()[index];
    const double difference = relative_difference(*array, *expected.outputs()[index].second);
    if (difference > tolerance || !array->gaps_untouched()) {
      qWarning("%s: %g at T=%ld D=%ld N=%ld, steps %d", name, difference, shape.length, shape.channels, shape.d_state,
               static_cast<int>(steps));
      return HUGE_VAL;
    }
    largest = std::max(largest, difference);
  }
  return largest;
}

constexpr Steps all_steps[] = {Steps::usual, Steps::tiny, Steps::huge, Steps::mixed};

}  // namespace

class TestDiagonalScan : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void cleanup() { use_simd_target(""); }

  void fast_equals_the_float64_reference() {
    std::mt19937_64 generator(1);
    double largest = 0;
    for (const std::int64_t length : {1, 2, 3, 17, 64, 127, 300, 513}) {
      for (const std::int64_t channels : {1, 3, 17, 64}) {
        for (const std::int64_t d_state : {1, 7, 16, 24}) {
          const DiagonalScanShape shape{
              .batch = length < 300 ? 3 : 1, .length = length, .channels = channels, .d_state = d_state};
          for (const Steps steps : all_steps) {
            const auto gap = static_cast<std::int64_t>(generator() % 3) * 5;
            largest = std::max(largest, largest_difference(shape, gap, steps, generator()));
            QVERIFY(largest <= tolerance);
          }
        }
      }
    }
    qInfo("largest relative difference: %.2g", largest);
  }

  void every_simd_target_agrees() {
    for (const std::string& target : simd_targets()) {
      use_simd_target(target);
      for (const Steps steps : all_steps) {
        QVERIFY2(largest_difference({2, 130, 17, 16}, 3, steps, 5) <= tolerance, target.c_str());
        QVERIFY2(largest_difference({1, 40, 16, 7}, 0, steps, 6) <= tolerance, target.c_str());
      }
    }
  }

  void the_reference_agrees_with_finite_differences() {
    const DiagonalScanShape shape{.batch = 2, .length = 7, .channels = 3, .d_state = 4};
    Numbers<double> n(random_numbers(shape, 0, Steps::usual, 11));
    for (std::int64_t i = 0; i < n.dt.count(); ++i) {
      n.dt[i] *= 20;
    }
    reference(shape, n);
    const auto objective = [&] {
      Numbers<double> result(n);
      diagonal_scan_reference<double>(shape, n.inputs(), result.y.rows(), result.h.data());
      double sum = 0;
      for (std::int64_t i = 0; i < n.y.count(); ++i) {
        sum += n.dy[i] * result.y[i];
      }
      for (std::int64_t i = 0; i < n.h.count(); ++i) {
        sum += n.dh[i] * result.h[i];
      }
      return sum;
    };
    for (const auto& [input, gradient] : n.inputs_and_gradients()) {
      for (std::int64_t i = 0; i < input->count(); ++i) {
        constexpr double step = 1e-6;
        const double kept = (*input)[i];
        (*input)[i] = kept + step;
        const double above = objective();
        (*input)[i] = kept - step;
        const double below = objective();
        (*input)[i] = kept;
        QVERIFY(std::abs((above - below) / (2 * step) - (*gradient)[i]) < 1e-7);
      }
    }
  }

  void a_decay_of_zero_forgets_exactly() {
    const DiagonalScanShape shape{.batch = 1, .length = 9, .channels = 5, .d_state = 3};
    auto n = random_numbers(shape, 0, Steps::usual, 3);
    for (std::int64_t d = 0; d < 5; ++d) {
      n.dt[4 * 5 + d] = 1e6f;
    }
    auto other = n;
    for (std::int64_t i = 0; i < n.h0.count(); ++i) {
      other.h0[i] = -3 * n.h0[i];
    }
    fast(shape, n);
    fast(shape, other);
    QCOMPARE(other.h.numbers, n.h.numbers);
    for (std::int64_t i = 0; i < n.y.count(); ++i) {
      QVERIFY(i < 4 * 5 ? other.y[i] != n.y[i] : other.y[i] == n.y[i]);
    }
    for (std::int64_t i = 0; i < n.dx.count(); ++i) {
      QVERIFY(std::isfinite(n.dx[i]) && std::isfinite(n.ddt[i]));
    }
  }

  void threads_and_kept_states_do_not_change_a_bit() {
    const DiagonalScanShape shape{.batch = 21, .length = 90, .channels = 19, .d_state = 5};
    auto one = random_numbers(shape, 0, Steps::mixed, 2);
    fast(shape, one, 1);
    for (const int threads : {1, 2, 3, 16}) {
      auto several = random_numbers(shape, 0, Steps::mixed, 2);
      fast(shape, several, threads, threads == 2);
      for (std::size_t index = 0; index < one.outputs().size(); ++index) {
        QCOMPARE(several.outputs()[index].second->numbers, one.outputs()[index].second->numbers);
      }
    }
  }

  void a_sequence_token_by_token_is_the_whole() {
    for (const std::int64_t length : {1, 2, 5, 30, 31, 65}) {
      const DiagonalScanShape shape{.batch = 2, .length = length, .channels = 17, .d_state = 6};
      auto whole = random_numbers(shape, 0, Steps::mixed, 4);
      auto pieces = whole;
      diagonal_scan(shape, whole.inputs(), whole.y.rows(), whole.h.data(), nullptr, 1);
      auto step = shape;
      step.length = 1;
      auto state = pieces.h0;
      for (std::int64_t t = 0; t < length; ++t) {
        const auto at = [&](auto rows) {
          rows.data += t * rows.row_stride;
          return rows;
        };
        const auto in = pieces.inputs();
        const auto before = state;
        diagonal_scan(step, {at(in.x), at(in.dt), at(in.B), at(in.C), in.A, before.data()}, at(pieces.y.rows()),
                      state.data(), nullptr, 1);
      }
      QCOMPARE(pieces.y.numbers, whole.y.numbers);
      QCOMPARE(state.numbers, whole.h.numbers);
    }
  }

  void unwanted_outputs_may_be_null() {
    const DiagonalScanShape shape{.batch = 2, .length = 20, .channels = 6, .d_state = 3};
    auto all = random_numbers(shape, 0, Steps::usual, 6);
    auto one = all;
    fast(shape, all);
    DiagonalScanGradients<float> only_A;
    only_A.A = one.dA.data();
    diagonal_scan_backward(shape, one.inputs(), nullptr, std::as_const(one.dy).rows(), one.dh.data(), only_A, 1);
    QCOMPARE(one.dA.numbers, all.dA.numbers);

    auto inputs = one.inputs();
    inputs.h0 = nullptr;
    std::ranges::fill(all.h0.numbers, 0.0f);
    diagonal_scan(shape, inputs, one.y.rows(), nullptr, nullptr, 1);
    diagonal_scan(shape, all.inputs(), all.y.rows(), nullptr, nullptr, 1);
    QCOMPARE(one.y.numbers, all.y.numbers);
  }

  void nan_is_not_hidden() {
    const DiagonalScanShape shape{.batch = 1, .length = 9, .channels = 4, .d_state = 2};
    auto n = random_numbers(shape, 0, Steps::usual, 6);
    n.dt[4 * 4 + 1] = NAN;
    fast(shape, n);
    QVERIFY(std::isfinite(n.y[3 * 4 + 1]) && std::isnan(n.y[4 * 4 + 1]) && std::isnan(n.y[8 * 4 + 1]));
    QVERIFY(std::isfinite(n.y[8 * 4 + 2]));
  }
};

QTEST_APPLESS_MAIN(TestDiagonalScan)
#include "test_diagonal_scan.moc"
