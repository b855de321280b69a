// RMSNorm, plain and gated, by groups: against float64 loops, which are held against finite differences.
#include <QTest>
#include <cmath>
#include <random>
#include <vector>

#include "core/kernels/rms_norm.h"
#include "core/kernels/simd.h"
#include "simd_target_data.h"

using namespace mambarium::kernels;

namespace {

template <class Real>
using Numbers = std::vector<Real>;

enum class Kind { plain, gated, norm_before_gate };
constexpr Kind kinds[] = {Kind::plain, Kind::gated, Kind::norm_before_gate};
constexpr std::int64_t gap = 3;

template <class Real>
struct Case {
  RmsNormShape shape;
  bool gated = false;
  Numbers<Real> in, gate, weight, dout, out, din, dgate, dweight;

  Case(const RmsNormShape& shape_, Kind kind, std::uint64_t seed) : shape(shape_), gated(kind != Kind::plain) {
    shape.norm_before_gate = kind == Kind::norm_before_gate;
    std::mt19937_64 generator(seed);
    std::normal_distribution<float> normal;
    for (Numbers<Real>* numbers : {&in, &gate, &dout, &out, &din, &dgate}) {
      numbers->resize(static_cast<std::size_t>(shape.length * stride()));
      for (Real& number : *numbers) number = static_cast<Real>(2 * normal(generator));
    }
    for (std::int64_t i = 0; i < shape.width; ++i) weight.push_back(static_cast<Real>(normal(generator)));
    dweight.assign(weight.size(), Real(0.5));
  }
  std::int64_t stride() const { return shape.width + gap; }
  Strided<Real> rows(Numbers<Real>& numbers) { return {numbers.data(), stride()}; }
  Strided<const Real> gate_rows() { return gated ? Strided<const Real>(rows(gate)) : Strided<const Real>{}; }
  RmsNormGradients<Real> gradients() { return {rows(din), gated ? rows(dgate) : Strided<Real>{}, dweight.data()}; }
};

void fast(Case<float>& c) {
  rms_norm(c.shape, c.rows(c.in), c.gate_rows(), c.weight.data(), c.rows(c.out));
  rms_norm_backward(c.shape, c.rows(c.in), c.gate_rows(), c.weight.data(), c.rows(c.dout), c.gradients());
}

void reference(Case<double>& c) {
  rms_norm_reference<double>(c.shape, c.rows(c.in), c.gate_rows(), c.weight.data(), c.rows(c.out));
  rms_norm_backward_reference<double>(c.shape, c.rows(c.in), c.gate_rows(), c.weight.data(), c.rows(c.dout),
                                      c.gradients());
}

// What lies between the rows is drawn alike on both sides and must still be there.
double difference(const Numbers<float>& found, const Numbers<double>& expected) {
  double largest = 1e-30, off = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double here = std::abs(static_cast<double>(found[i]) - expected[i]);
    off = std::isfinite(here) ? std::max(off, here) : HUGE_VAL;
  }
  return off / largest;
}

}  // namespace

class TestRmsNorm : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase_data() { add_simd_targets(); }
  void init() { use_fetched_simd_target(); }
  void cleanup() { use_simd_target(""); }

  void fast_equals_the_float64_reference() {
    for (const Kind kind : kinds) {
      for (const std::int64_t groups : {1, 2, 3}) {
        for (const std::int64_t of_group : {1, 2, 5, 8, 16, 17, 70, 300}) {
          for (const std::int64_t length : {1, 2, 5}) {
            const RmsNormShape shape{.length = length, .width = groups * of_group, .groups = groups};
            Case<float> found(shape, kind, 7);
            Case<double> expected(shape, kind, 7);
            fast(found);
            reference(expected);
            const double worst =
                std::max({difference(found.out, expected.out), difference(found.din, expected.din),
                          difference(found.dgate, expected.dgate), difference(found.dweight, expected.dweight)});
            QVERIFY2(worst <= 2e-6, qPrintable(QString("%1 at %2 groups of %3").arg(worst).arg(groups).arg(of_group)));
          }
        }
      }
    }
  }

  void the_reference_agrees_with_finite_differences() {
    for (const Kind kind : kinds) {
      for (const std::int64_t groups : {1, 2}) {
        Case<double> c({.length = 3, .width = 6, .groups = groups, .epsilon = 1e-2}, kind, 3);
        reference(c);
        const auto objective = [&] {
          Case<double> result(c);
          rms_norm_reference<double>(c.shape, c.rows(c.in), c.gate_rows(), c.weight.data(), result.rows(result.out));
          double sum = 0;
          for (std::int64_t t = 0; t < 3; ++t) {
            for (std::int64_t i = 0; i < 6; ++i) sum += result.rows(result.out).row(t)[i] * c.rows(c.dout).row(t)[i];
          }
          return sum;
        };
        const auto slope = [&](double& number) {
          constexpr double step = 1e-6;
          const double kept = number;
          number = kept + step;
          const double above = objective();
          number = kept - step;
          const double below = objective();
          number = kept;
          return (above - below) / (2 * step);
        };
        for (std::int64_t i = 0; i < 6; ++i) {
          for (std::int64_t t = 0; t < 3; ++t) {
            QVERIFY(std::abs(slope(c.rows(c.in).row(t)[i]) - c.rows(c.din).row(t)[i]) < 1e-7);
            if (kind != Kind::plain) {
              QVERIFY(std::abs(slope(c.rows(c.gate).row(t)[i]) - c.rows(c.dgate).row(t)[i]) < 1e-7);
            }
          }
          const auto at = static_cast<std::size_t>(i);
          QVERIFY(std::abs(slope(c.weight[at]) + 0.5 - c.dweight[at]) < 1e-7);  // added to the 0.5 that was there
        }
      }
    }
  }

  void each_group_is_normed_alone() {
    Case<float> both({.length = 2, .width = 40, .groups = 2}, Kind::gated, 1);
    fast(both);
    for (const std::int64_t first : {0, 20}) {
      const RmsNormShape one{.length = 2, .width = 20};
      Numbers<float> out(static_cast<std::size_t>(2 * both.stride()));
      rms_norm(one, both.rows(both.in).columns(first), both.rows(both.gate).columns(first), both.weight.data() + first,
               both.rows(out));
      for (std::int64_t t = 0; t < 2; ++t) {
        for (std::int64_t i = 0; i < 20; ++i) QCOMPARE(both.rows(out).row(t)[i], both.rows(both.out).row(t)[first + i]);
      }
    }
    auto whole = both;
    whole.shape.groups = 1;
    fast(whole);
    QVERIFY(whole.out != both.out);
  }

  void before_and_after_the_gate_differ_by_the_gate() {
    Case<float> c({.length = 1, .width = 16}, Kind::norm_before_gate, 2);
    fast(c);
    Case<float> plain({.length = 1, .width = 16}, Kind::plain, 2);
    fast(plain);
    for (std::size_t i = 0; i < 16; ++i) {
      const double z = static_cast<double>(c.gate[i]),
                   expected = static_cast<double>(plain.out[i]) * z / (1 + std::exp(-z));
      QVERIFY(std::abs(static_cast<double>(c.out[i]) - expected) <= 1e-6 * std::max(1.0, std::abs(expected)));
    }
  }

  void in_place() {
    for (const Kind kind : kinds) {
      Case<float> apart({.length = 3, .width = 37}, kind, 4);
      auto same = apart;
      fast(apart);
      const auto dout = same.dout;
      const auto into_dout = RmsNormGradients<float>{same.rows(same.dout), same.gradients().gate, same.dweight.data()};
      rms_norm_backward(same.shape, same.rows(same.in), same.gate_rows(), same.weight.data(), same.rows(same.dout),
                        into_dout);
      for (std::int64_t i = 0; i < 37; ++i) QCOMPARE(same.rows(same.dout).row(2)[i], apart.rows(apart.din).row(2)[i]);
      same.dout = dout;
      if (kind != Kind::plain) {
        rms_norm_backward(same.shape, same.rows(same.in), same.gate_rows(), same.weight.data(), same.rows(same.dout),
                          {same.rows(same.din), same.rows(same.dout), same.dweight.data()});
        for (std::int64_t i = 0; i < 37; ++i) {
          QCOMPARE(same.rows(same.dout).row(1)[i], apart.rows(apart.dgate).row(1)[i]);
        }
      }
      rms_norm(same.shape, same.rows(same.in), same.gate_rows(), same.weight.data(), same.rows(same.in));
      for (std::int64_t i = 0; i < 37; ++i) QCOMPARE(same.rows(same.in).row(1)[i], apart.rows(apart.out).row(1)[i]);
    }
  }

  void a_row_of_zeros_stays_finite() {
    Case<float> c({.length = 2, .width = 20}, Kind::gated, 4);
    std::ranges::fill(c.in, 0.0f);
    fast(c);
    for (std::int64_t i = 0; i < 20; ++i) {
      QCOMPARE(c.rows(c.out).row(0)[i], 0.0f);
      QVERIFY(std::isfinite(c.rows(c.din).row(1)[i]) && std::isfinite(c.rows(c.dgate).row(1)[i]));
    }
  }
};

QTEST_APPLESS_MAIN(TestRmsNorm)
#include "test_rms_norm.moc"
