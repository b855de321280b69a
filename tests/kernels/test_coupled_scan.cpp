// The scan whose states are coupled inside a channel: the fast one against float64 and, uncoupled, against the diagonal
// scan; the reference against finite differences; Picard's iteration against the recurrence.
#include <QTest>
#include <cstring>

#include "core/kernels/coupling_integral.h"
#include "core/kernels/simd.h"
#include "tests/kernels/coupled_scan_numbers.h"

using namespace mambarium::kernels;

namespace {

constexpr double tolerance = 2e-5;  // decays are rounded to float32, whatever follows
constexpr CouplingForm forms[] = {CouplingForm::euler, CouplingForm::etd};

double largest_difference(const CoupledScanShape& shape, std::int64_t gap, Steps steps, std::uint64_t seed) {
  auto found = random_numbers(shape, gap, steps, seed);
  CoupledNumbers<double> expected(found);
  fast(shape, found);
  reference(shape, expected);
  double largest = 0;
  for (std::size_t index = 0; index < expected.outputs().size(); ++index) {
    const auto [name, array] = found.outputs()[index];
    const double difference = relative_difference(*array, *expected.outputs()[index].second);
    if (difference > tolerance || !array->gaps_untouched()) {
      qWarning("%s: %g at T=%ld D=%ld N=%ld r=%ld, form %d, per channel %d, steps %d", name, difference, shape.length,
               shape.channels, shape.d_state, shape.rank, static_cast<int>(shape.form), shape.per_channel,
               static_cast<int>(steps));
      return HUGE_VAL;
    }
    largest = std::max(largest, difference);
  }
  return largest;
}

bool same_bits(const Array<float>& one, const Array<float>& other) {
  return std::memcmp(one.data(), other.data(), one.numbers.size() * sizeof(float)) == 0;
}

// Rows of one token.
template <class Real>
Rows<Real> at(Rows<Real> rows, std::int64_t t) {
  rows.data += t * rows.row_stride;
  return rows;
}

// A channel with x = 0 and one state, alone with itself: what a factor per token makes of h0 = 1.
double one_state(CouplingForm form, double dt, double A, double coupling) {
  const CoupledScanShape shape{.batch = 1, .length = 1, .channels = 1, .d_state = 1, .rank = 1, .form = form};
  CoupledNumbers<float> n(shape, 0);
  n.x[0] = 0;
  n.dt[0] = static_cast<float>(dt);
  n.A[0] = static_cast<float>(A);
  n.P[0] = static_cast<float>(coupling);
  n.B[0] = n.C[0] = n.Q[0] = n.h0[0] = 1;
  coupled_scan(shape, n.inputs(), n.y.rows(), nullptr, {}, nullptr, 1);
  return static_cast<double>(n.y[0]);
}

// Of P Q: the root of the larger eigenvalue of (P^T P) (Q Q^T).
double spectral_norm_of_rank_two(const Array<double>& P, const Array<double>& Q) {
  const std::int64_t N = Q.width;
  double left[2][2] = {}, right[2][2] = {}, product[2][2] = {};
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (std::int64_t n = 0; n < N; ++n) {
        left[i][j] += P[n * 2 + i] * P[n * 2 + j];
        right[i][j] += Q[i * N + n] * Q[j * N + n];
      }
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      product[i][j] = left[i][0] * right[0][j] + left[i][1] * right[1][j];
    }
  }
  const double half_trace = (product[0][0] + product[1][1]) / 2;
  const double determinant = product[0][0] * product[1][1] - product[0][1] * product[1][0];
  return std::sqrt(half_trace + std::sqrt(half_trace * half_trace - determinant));
}

}  // namespace

class TestCoupledScan : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void cleanup() { use_simd_target(""); }

  void fast_equals_the_float64_reference() {
    std::mt19937_64 generator(1);
    double largest = 0;
    std::size_t turn = 0;
    constexpr std::int64_t ranks[] = {2, 1, 3, 16, 4, 7};
    for (const std::int64_t length : {1, 2, 3, 17, 64, 127, 300, 513}) {
      for (const std::int64_t channels : {1, 3, 17, 64}) {
        for (const std::int64_t d_state : {1, 7, 16, 24}) {
          for (const CouplingForm form : forms) {
            const CoupledScanShape shape{.batch = length < 300 || channels == 1 ? 3 : 1,
                                         .length = length,
                                         .channels = channels,
                                         .d_state = d_state,
                                         .rank = ranks[turn++ / 2 % std::size(ranks)],
                                         .per_channel = generator() % 2 == 0,
                                         .form = form};
            for (const Steps steps : all_steps) {
              const auto gap = static_cast<std::int64_t>(generator() % 3) * 5;
              largest = std::max(largest, largest_difference(shape, gap, steps, generator()));
              QVERIFY(largest <= tolerance);
            }
          }
        }
      }
    }
    qInfo("largest relative difference: %.2g", largest);
  }

  void every_simd_target_agrees() {
    for (const std::string& target : simd_targets()) {
      use_simd_target(target);
      for (const CouplingForm form : forms) {
        for (const Steps steps : all_steps) {
          for (const bool per_channel : {false, true}) {
            QVERIFY2(largest_difference({2, 130, 17, 16, 2, per_channel, form}, 3, steps, 5) <= tolerance,
                     target.c_str());
            QVERIFY2(largest_difference({1, 40, 16, 7, 5, per_channel, form}, 0, steps, 6) <= tolerance,
                     target.c_str());
          }
        }
      }
    }
  }

  void the_reference_agrees_with_finite_differences() {
    for (const CouplingForm form : forms) {
      for (const bool per_channel : {false, true}) {
        const CoupledScanShape shape{
            .batch = 2, .length = 7, .channels = 3, .d_state = 4, .rank = 2, .per_channel = per_channel, .form = form};
        CoupledNumbers<double> n(random_numbers(shape, 0, Steps::usual, 11));
        for (std::int64_t i = 0; i < n.dt.count(); ++i) {
          n.dt[i] *= 20;
        }
        reference(shape, n);
        const auto objective = [&] {
          CoupledNumbers<double> result(n);
          coupled_scan_reference<double>(shape, n.inputs(), result.y.rows(), result.h.data());
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
            constexpr double step = 1e-5;
            const double kept = (*input)[i];
            const auto moved = [&](double by) {
              (*input)[i] = kept + by;
              const double value = objective();
              (*input)[i] = kept;
              return value;
            };
            // Fourth order, so that rounding (about 1e-15 / step) is what is left.
            const double slope =
                (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
            QVERIFY(std::abs(slope - (*gradient)[i]) < 1e-7 * std::max(1.0, std::abs((*gradient)[i])));
          }
        }
      }
    }
  }

  // Outputs and gradients of everything but P, on every set of vector instructions. P's own gradient is not 0.
  void without_coupling_every_bit_is_that_of_the_diagonal_scan() {
    for (const std::string& target : simd_targets()) {
      use_simd_target(target);
      for (const CouplingForm form : forms) {
        for (const Steps steps : all_steps) {
          for (const std::int64_t d_state : {5, 16}) {
            const CoupledScanShape shape{
                .batch = 3, .length = 150, .channels = 19, .d_state = d_state, .rank = 2, .form = form};
            auto n = random_numbers(shape, 5, steps, 8);
            std::ranges::fill(n.P.numbers, 0.0f);
            auto plain = n;
            fast(shape, n);
            const DiagonalScanInputs<float> inputs{std::as_const(plain.x).rows(),
                                                   std::as_const(plain.dt).rows(),
                                                   std::as_const(plain.B).rows(),
                                                   std::as_const(plain.C).rows(),
                                                   plain.A.data(),
                                                   plain.h0.data()};
            diagonal_scan(shape.diagonal(), inputs, plain.y.rows(), plain.h.data(), nullptr, 1);
            diagonal_scan_backward(shape.diagonal(), inputs, nullptr, std::as_const(plain.dy).rows(), plain.dh.data(),
                                   {plain.dx.rows(), plain.ddt.rows(), plain.dB.rows(), plain.dC.rows(),
                                    plain.dA.data(), plain.dh0.data()},
                                   1);
            for (const auto member :
                 {&CoupledNumbers<float>::y, &CoupledNumbers<float>::h, &CoupledNumbers<float>::dx,
                  &CoupledNumbers<float>::ddt, &CoupledNumbers<float>::dA, &CoupledNumbers<float>::dB,
                  &CoupledNumbers<float>::dC, &CoupledNumbers<float>::dh0}) {
              QVERIFY2(same_bits(n.*member, plain.*member), target.c_str());
            }
            CoupledNumbers<double> expected(n);
            reference(shape, expected);
            QVERIFY(relative_difference(n.dP, expected.dP) <= tolerance);
            QVERIFY(relative_difference(n.dQ, expected.dQ) == 0);
            QVERIFY(relative_difference(n.z, expected.z) <= tolerance);
            QVERIFY(std::ranges::any_of(n.dP.numbers, [](float value) { return value != 0; }));
          }
        }
      }
    }
  }

  void a_sequence_token_by_token_is_the_whole() {
    for (const CouplingForm form : forms) {
      const CoupledScanShape shape{.batch = 1, .length = 4096, .channels = 17, .d_state = 16, .rank = 2, .form = form};
      auto whole = random_numbers(shape, 0, Steps::usual, 4);
      auto pieces = whole;
      coupled_scan(shape, whole.inputs(), whole.y.rows(), whole.h.data(), whole.z.rows(), nullptr, 1);
      auto step = shape;
      step.length = 1;
      auto state = pieces.h0;
      for (std::int64_t t = 0; t < shape.length; ++t) {
        const auto in = pieces.inputs();
        const auto before = state;
        coupled_scan(step, {at(in.x, t), at(in.dt, t), at(in.B, t), at(in.C, t), in.A, in.P, in.Q, before.data()},
                     at(pieces.y.rows(), t), state.data(), at(pieces.z.rows(), t), nullptr, 1);
      }
      QVERIFY(relative_difference(pieces.y, Array<double>(whole.y)) <= 1e-6);
      QVERIFY(relative_difference(pieces.z, Array<double>(whole.z)) <= 1e-6);
      QVERIFY(relative_difference(state, Array<double>(whole.h)) <= 1e-6);
    }
  }

  void threads_and_kept_states_do_not_change_a_bit() {
    for (const bool per_channel : {false, true}) {
      const CoupledScanShape shape{
          .batch = 21, .length = 90, .channels = 19, .d_state = 5, .rank = 3, .per_channel = per_channel};
      auto one = random_numbers(shape, 0, Steps::mixed, 2);
      fast(shape, one, 1);
      for (const int threads : {1, 2, 3, 16}) {
        auto several = random_numbers(shape, 0, Steps::mixed, 2);
        fast(shape, several, threads, threads == 2);
        for (std::size_t index = 0; index < one.outputs().size(); ++index) {
          QVERIFY(same_bits(*several.outputs()[index].second, *one.outputs()[index].second));
        }
      }
    }
  }

  void channels_do_not_mix() {
    const CoupledScanShape shape{.batch = 1, .length = 20, .channels = 5, .d_state = 6, .rank = 2};
    auto one = random_numbers(shape, 0, Steps::usual, 7);
    auto other = one;
    for (std::int64_t t = 0; t < shape.length; ++t) {
      other.x[t * 5 + 2] += 1;
    }
    fast(shape, one);
    fast(shape, other);
    for (std::int64_t i = 0; i < one.y.count(); ++i) {
      QVERIFY((i % 5 == 2) == (one.y[i] != other.y[i]));
    }
  }

  // One pair for all channels is the same as that pair for each, and its gradient the sum of theirs.
  void a_shared_coupling_is_the_same_one_in_every_channel() {
    const CoupledScanShape shared{.batch = 2, .length = 40, .channels = 21, .d_state = 7, .rank = 2};
    auto each = shared;
    each.per_channel = true;
    auto one = random_numbers(shared, 0, Steps::usual, 9);
    auto many = random_numbers(each, 0, Steps::usual, 9);
    for (const auto member : {&CoupledNumbers<float>::x, &CoupledNumbers<float>::dt, &CoupledNumbers<float>::A,
                              &CoupledNumbers<float>::B, &CoupledNumbers<float>::C, &CoupledNumbers<float>::h0,
                              &CoupledNumbers<float>::dy, &CoupledNumbers<float>::dh}) {
      many.*member = one.*member;
    }
    for (std::int64_t i = 0; i < many.P.count(); ++i) {
      many.P[i] = one.P[i % one.P.count()];
      many.Q[i] = one.Q[i % one.Q.count()];
    }
    fast(shared, one);
    fast(each, many);
    QVERIFY(same_bits(one.y, many.y) && same_bits(one.dx, many.dx) && same_bits(one.dA, many.dA));
    Array<double> dP(1, 7, 2), dQ(1, 2, 7);
    std::ranges::fill(dP.numbers, 0.0);
    std::ranges::fill(dQ.numbers, 0.0);
    for (std::int64_t i = 0; i < many.dP.count(); ++i) {
      dP[i % dP.count()] += static_cast<double>(many.dP[i]);
      dQ[i % dQ.count()] += static_cast<double>(many.dQ[i]);
    }
    QVERIFY(relative_difference(one.dP, dP) <= 1e-6);
    QVERIFY(relative_difference(one.dQ, dQ) <= 1e-6);
  }

  // exp(dt A) + weight P Q, with the weights in long double.
  void the_weight_of_the_coupling_is_exact_for_every_step() {
    for (const double A : {0.0, -1e-38, -1e-20, -1e-7, -1e-3, -0.3, -1.0, -16.0, -1e4}) {
      for (const double dt : {0.0, 1e-12, 1e-6, 1e-3, 0.03, 0.4, 0.5, 0.6, 1.0, 30.0, 1e3}) {
        const long double a = static_cast<float>(A), step = static_cast<float>(dt);
        const long double phi = a == 0 ? step : std::expm1(step * a) / a;
        const auto expected = static_cast<double>(std::exp(step * a) + phi * 1000);
        QVERIFY(std::abs(one_state(CouplingForm::etd, dt, A, 1000) - expected) <= 1e-6 * expected);
        const auto euler = static_cast<double>(std::exp(step * a) + step * 1000);
        QVERIFY(std::abs(one_state(CouplingForm::euler, dt, A, 1000) - euler) <= 1e-6 * euler);
      }
    }
  }

  // One state is read (h0 = 1), the other, from 0, receives phi times that: no other number hides phi's error.
  void phi_is_accurate_from_tiny_to_large_exponents() {
    const CoupledScanShape shape{
        .batch = 1, .length = 1, .channels = 1, .d_state = 2, .rank = 1, .form = CouplingForm::etd};
    for (const std::string& target : simd_targets()) {
      use_simd_target(target);
      double largest = 0;
      for (double exponent = 1e-8; exponent < 80; exponent *= 1.01) {
        for (const double dt : {1e-6, 0.02, 1.0, 300.0}) {
          CoupledNumbers<float> n(shape, 0);
          std::ranges::fill(n.A.numbers, static_cast<float>(-exponent / dt));
          n.dt[0] = static_cast<float>(dt);
          n.x[0] = n.B[0] = n.B[1] = n.C[0] = n.h0[1] = n.P[0] = n.Q[1] = 0;
          n.C[1] = n.h0[0] = n.P[1] = n.Q[0] = 1;
          coupled_scan(shape, n.inputs(), n.y.rows(), nullptr, {}, nullptr, 1);
          const double expected = coupling_integral(static_cast<double>(n.dt[0]), static_cast<double>(n.A[1]));
          largest = std::max(largest, std::abs(static_cast<double>(n.y[0]) / expected - 1));
        }
      }
      qInfo("%s: largest relative error of phi %.2g", target.c_str(), largest);
      QVERIFY2(largest <= 5e-7, target.c_str());  // roundings of dt A, of exp - 1, of P / A and of their product
    }
  }

  // dA is found in two ways, for rates of more and of less than 1/16.
  void rates_on_both_sides_of_a_slow_one() {
    for (const float rate : {-1.0f, -0.0626f, -0.0624f, -0.01f}) {
      for (const Steps steps : {Steps::usual, Steps::tiny}) {
        const CoupledScanShape shape{
            .batch = 2, .length = 100, .channels = 17, .d_state = 8, .rank = 2, .form = CouplingForm::etd};
        auto n = random_numbers(shape, 0, steps, 12);
        std::ranges::fill(n.A.numbers, rate);
        CoupledNumbers<double> expected(n);
        fast(shape, n);
        reference(shape, expected);
        for (std::size_t index = 0; index < expected.outputs().size(); ++index) {
          QVERIFY(relative_difference(*n.outputs()[index].second, *expected.outputs()[index].second) <= tolerance);
        }
      }
    }
  }

  void the_weight_s_derivative_joins_its_series() {
    for (const double dt : {1e-6, 0.1, 1.0, 50.0}) {
      QCOMPARE(coupling_integral(dt, 0.0), dt);
      QCOMPARE(coupling_integral_by_A(dt, 0.0), dt * dt / 2);
      for (const double x : {-0.0999999, -0.1000001}) {
        const double A = x / dt;
        const long double exact =
            (std::exp(static_cast<long double>(x)) * x - std::expm1(static_cast<long double>(x))) /
            (static_cast<long double>(x) * x);
        QVERIFY(std::abs(coupling_integral_by_A(dt, A) - dt * dt * static_cast<double>(exact)) <= 1e-13 * dt * dt);
      }
    }
  }

  // sum_j |M_ij| = 0.9 |A_i| and steps of any size: etd never grows, the added coupling does.
  void etd_contracts_where_euler_explodes() {
    CoupledScanShape shape{.batch = 1, .length = 200, .channels = 1, .d_state = 4, .rank = 1};
    auto n = random_numbers(shape, 0, Steps::mixed, 3);
    for (std::int64_t i = 0; i < 4; ++i) {
      n.P[i] = -0.9f * n.A[i] / 4;
      n.Q[i] = n.h0[i] = 1;
    }
    std::ranges::fill(n.x.numbers, 0.0f);
    const auto stays_below = [&](CouplingForm form, float bound) {
      shape.form = form;
      coupled_scan(shape, n.inputs(), n.y.rows(), n.h.data(), {}, nullptr, 1);
      return std::ranges::all_of(n.h.numbers, [&](float h) { return std::abs(h) < bound; });
    };
    QVERIFY(stays_below(CouplingForm::etd, 1));
    QVERIFY(!stays_below(CouplingForm::euler, 1e6f));
  }

  void a_rank_out_of_range_is_refused() {
    for (const std::int64_t rank : {0, 17}) {
      const CoupledScanShape shape{.batch = 1, .length = 1, .channels = 1, .d_state = 1, .rank = rank};
      QVERIFY_EXCEPTION_THROWN(coupled_scan(shape, {}, {}, nullptr, {}, nullptr, 1), std::invalid_argument);
      QVERIFY_EXCEPTION_THROWN(coupled_scan_reference<double>(shape, {}, {}, nullptr), std::invalid_argument);
    }
  }

  void unwanted_outputs_may_be_null() {
    const CoupledScanShape shape{.batch = 2, .length = 20, .channels = 6, .d_state = 3, .rank = 2};
    auto all = random_numbers(shape, 0, Steps::usual, 6);
    auto one = all;
    fast(shape, all);
    CoupledScanGradients<float> only_P;
    only_P.P = one.dP.data();
    coupled_scan_backward(shape, one.inputs(), nullptr, std::as_const(one.dy).rows(), one.dh.data(), only_P, 1);
    QCOMPARE(one.dP.numbers, all.dP.numbers);

    auto inputs = one.inputs();
    inputs.h0 = nullptr;
    std::ranges::fill(all.h0.numbers, 0.0f);
    coupled_scan(shape, inputs, one.y.rows(), nullptr, {}, nullptr, 1);
    coupled_scan(shape, all.inputs(), all.y.rows(), nullptr, {}, nullptr, 1);
    QCOMPARE(one.y.numbers, all.y.numbers);
    CoupledNumbers<double> expected(all), found(all);
    reference(shape, expected);
    CoupledScanGradients<double> only_Q;
    only_Q.Q = found.dQ.data();
    coupled_scan_backward_reference<double>(shape, found.inputs(), std::as_const(found.dy).rows(), found.dh.data(),
                                            only_Q);
    QCOMPARE(found.dQ.numbers, expected.dQ.numbers);
  }

  void nan_is_not_hidden() {
    const CoupledScanShape shape{.batch = 1, .length = 9, .channels = 4, .d_state = 2, .rank = 1};
    auto n = random_numbers(shape, 0, Steps::usual, 6);
    n.dt[4 * 4 + 1] = NAN;
    fast(shape, n);
    QVERIFY(std::isfinite(n.y[3 * 4 + 1]) && std::isnan(n.y[4 * 4 + 1]) && std::isnan(n.y[8 * 4 + 1]));
    QVERIFY(std::isfinite(n.y[8 * 4 + 2]));
  }

  // Plain diagonal scans, corrected: the error falls by orders of magnitude with each, the less the stronger the
  // coupling; the estimate is the error of the scan before.
  void picard_converges_to_the_recurrence() {
    constexpr std::int64_t T = 512, D = 4, N = 16, rank = 2;
    const CoupledScanShape shape{.batch = 1, .length = T, .channels = D, .d_state = N, .rank = rank};
    const std::pair<double, std::vector<double>> expected[] = {
        {0.1, {1.6e-5, 7e-8, 2.6e-10}}, {0.3, {8e-5, 8e-7, 1e-8}}, {0.8, {8e-4, 3e-5, 2e-6}}};
    for (const auto& [norm, errors] : expected) {
      CoupledNumbers<double> n(random_numbers(shape, 0, Steps::usual, 21));
      const double scale = norm / spectral_norm_of_rank_two(n.P, n.Q);
      for (std::int64_t i = 0; i < n.P.count(); ++i) {
        n.P[i] *= scale;
      }
      for (std::int64_t i = 0; i < n.A.count(); ++i) {
        n.A[i] = -static_cast<double>(i % N + 1);
      }
      for (std::int64_t i = 0; i < n.dt.count(); ++i) {
        n.dt[i] = 0.001 * std::pow(100, 10 * n.dt[i]);  // 0.001 to 0.1, as a layer of Mamba starts
      }
      coupled_scan_reference<double>(shape, n.inputs(), n.y.rows(), n.h.data());
      double before = HUGE_VAL;
      for (int corrections = 0; corrections <= 3; ++corrections) {
        CoupledNumbers<double> found(n);
        const double estimate =
            coupled_scan_picard<double>(shape, found.inputs(), corrections, found.y.rows(), found.h.data());
        double error = 0, largest = 0;
        for (std::int64_t i = 0; i < n.y.count(); ++i) {
          error = std::max(error, std::abs(found.y[i] - n.y[i]));
          largest = std::max(largest, std::abs(n.y[i]));
        }
        error /= largest;
        qInfo("norm %.1f, %d corrections: error %.2g, estimate %.2g", norm, corrections, error, estimate);
        if (corrections > 0) {
          const double figure = errors[static_cast<std::size_t>(corrections - 1)];
          QVERIFY(error < 50 * figure && error > figure / 50 && error < norm * before);
          QVERIFY(std::abs(estimate - before) <= error * 1.001);
        } else {
          QVERIFY(std::isinf(estimate));
        }
        before = error;
      }
    }
  }

  void picard_is_exact_after_as_many_scans_as_tokens() {
    for (const CouplingForm form : forms) {
      const CoupledScanShape shape{
          .batch = 2, .length = 12, .channels = 3, .d_state = 5, .rank = 2, .per_channel = true, .form = form};
      CoupledNumbers<double> n(random_numbers(shape, 0, Steps::usual, 22));
      for (std::int64_t i = 0; i < n.P.count(); ++i) {
        n.P[i] *= 50;  // far from contracting
      }
      auto found = n;
      coupled_scan_reference<double>(shape, n.inputs(), n.y.rows(), n.h.data());
      const auto run = [&](int corrections) {
        return coupled_scan_picard<double>(shape, found.inputs(), corrections, found.y.rows(), found.h.data());
      };
      run(2);
      QVERIFY(found.y.numbers != n.y.numbers);
      run(12);  // h0 is not 0, so that the first token needs its correction too
      QCOMPARE(found.y.numbers, n.y.numbers);
      QCOMPARE(found.h.numbers, n.h.numbers);
      QCOMPARE(run(13), 0.0);
    }
  }
};

QTEST_APPLESS_MAIN(TestCoupledScan)
#include "test_coupled_scan.moc"
