// The fast scan against the float64 reference, and the reference against finite differences.
#include <QTest>
#include <cmath>
#include <random>
#include <vector>

#include "core/kernels/selective_scan.h"
#include "core/kernels/simd.h"

using namespace mambarium::kernels;

namespace {

// A [batch, length, width] array whose rows lie apart: `gap` numbers that must not be touched between any two.
template <class Real>
struct Array {
  Array(std::int64_t batch_, std::int64_t length_, std::int64_t width_, std::int64_t gap_ = 0)
      : batch(batch_), length(length_), width(width_), stride(width_ + gap_) {
    numbers.assign(static_cast<std::size_t>(batch * length * stride), untouched);
  }
  template <class Other>
  explicit Array(const Array<Other>& other) : Array(other.batch, other.length, other.width) {
    each([&](std::int64_t b, std::int64_t t, std::int64_t i) { at(b, t, i) = static_cast<Real>(other.at(b, t, i)); });
  }
  Real& at(std::int64_t b, std::int64_t t, std::int64_t i) {
    return numbers[static_cast<std::size_t>((b * length + t) * stride + i)];
  }
  Real at(std::int64_t b, std::int64_t t, std::int64_t i) const { return const_cast<Array&>(*this).at(b, t, i); }
  template <class Work>
  void each(const Work& work) const {
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t t = 0; t < length; ++t) {
        for (std::int64_t i = 0; i < width; ++i) {
          work(b, t, i);
        }
      }
    }
  }
  Rows<Real> rows() { return {numbers.data(), length * stride, stride}; }
  Rows<const Real> rows() const { return {numbers.data(), length * stride, stride}; }
  bool gaps_untouched() const {
    for (std::int64_t row = 0; row < batch * length; ++row) {
      for (std::int64_t i = width; i < stride; ++i) {
        if (numbers[static_cast<std::size_t>(row * stride + i)] != untouched) {
          return false;
        }
      }
    }
    return true;
  }

  static constexpr Real untouched = Real(12345.5);
  std::int64_t batch, length, width, stride;
  std::vector<Real> numbers;
};

template <class Real>
struct Inputs {
  Array<Real> x, dt, a, B, C, h0, dy, dh;
  template <class Other>
  explicit Inputs(const Inputs<Other>& o) : x(o.x), dt(o.dt), a(o.a), B(o.B), C(o.C), h0(o.h0), dy(o.dy), dh(o.dh) {}
  Inputs(const ScanShape& s, std::int64_t gap)
      : x(s.batch, s.length, s.heads * s.headdim, gap),
        dt(s.batch, s.length, s.heads, 2 * gap),
        a(s.batch, s.length, s.heads, gap),
        B(s.batch, s.length, s.groups * s.d_state, gap),
        C(s.batch, s.length, s.groups * s.d_state, 3 * gap),
        h0(s.batch, s.heads * s.headdim, s.d_state),
        dy(s.batch, s.length, s.heads * s.headdim, gap),
        dh(s.batch, s.heads * s.headdim, s.d_state) {}
  ScanInputs<Real> view() const { return {x.rows(), dt.rows(), a.rows(), B.rows(), C.rows(), h0.numbers.data()}; }
};

template <class Real>
struct Outputs {
  Array<Real> y, h, dx, ddt, da, dB, dC, dh0;
  Outputs(const ScanShape& s, std::int64_t gap)
      : y(s.batch, s.length, s.heads * s.headdim, gap),
        h(s.batch, s.heads * s.headdim, s.d_state),
        dx(s.batch, s.length, s.heads * s.headdim, gap),
        ddt(s.batch, s.length, s.heads, gap),
        da(s.batch, s.length, s.heads, gap),
        dB(s.batch, s.length, s.groups * s.d_state, 2 * gap),
        dC(s.batch, s.length, s.groups * s.d_state, gap),
        dh0(s.batch, s.heads * s.headdim, s.d_state) {}
  ScanGradients<Real> gradients() {
    return {dx.rows(), ddt.rows(), da.rows(), dB.rows(), dC.rows(), dh0.numbers.data()};
  }
  std::vector<std::pair<const char*, Array<Real>*>> named() {
    return {{"y", &y}, {"h", &h}, {"dx", &dx}, {"ddt", &ddt}, {"da", &da}, {"dB", &dB}, {"dC", &dC}, {"dh0", &dh0}};
  }
};

enum class Decays { near_one, uniform, extreme };

Inputs<float> random_inputs(const ScanShape& shape, std::int64_t gap, Decays decays, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform;
  Inputs<float> in(shape, gap);
  const auto fill = [](Array<float>& array, const auto& draw) {
    array.each([&](std::int64_t b, std::int64_t t, std::int64_t i) { array.at(b, t, i) = draw(); });
  };
  for (Array<float>* array : {&in.x, &in.B, &in.C, &in.h0, &in.dy, &in.dh}) {
    fill(*array, [&] { return normal(generator); });
  }
  fill(in.dt, [&] { return uniform(generator); });
  fill(in.a, [&]() -> float {
    if (decays == Decays::near_one) {
      return 1.0f - 0.02f * uniform(generator);
    }
    if (decays == Decays::extreme) {
      const float extremes[] = {0.0f, 1e-30f, 1e-10f, 1e-3f, 0.5f, 0.999f, 1.0f};
      return extremes[generator() % 7];
    }
    return uniform(generator);
  });
  return in;
}

template <class Real>
void reference(const ScanShape& shape, const Inputs<Real>& in, Outputs<Real>& out) {
  selective_scan_reference<Real>(shape, in.view(), out.y.rows(), out.h.numbers.data());
  selective_scan_backward_reference<Real>(shape, in.view(), std::as_const(in.dy).rows(), in.dh.numbers.data(),
                                          out.gradients());
}

void fast(const ScanShape& shape, const Inputs<float>& in, Outputs<float>& out, int threads = 1) {
  selective_scan(shape, in.view(), out.y.rows(), out.h.numbers.data(), threads);
  selective_scan_backward(shape, in.view(), std::as_const(in.dy).rows(), in.dh.numbers.data(), out.gradients(),
                          threads);
}

double relative_difference(const Array<float>& found, const Array<double>& expected) {
  double largest = 0, difference = 0;
  expected.each([&](std::int64_t b, std::int64_t t, std::int64_t i) {
    largest = std::max(largest, std::abs(expected.at(b, t, i)));
    const double off = std::abs(static_cast<double>(found.at(b, t, i)) - expected.at(b, t, i));
    difference = std::max(difference, std::isnan(off) ? HUGE_VAL : off);
  });
  return difference / std::max(largest, 1e-30);
}

double largest_difference(const ScanShape& shape, std::int64_t gap, Decays decays, std::uint64_t seed) {
  const auto in = random_inputs(shape, gap, decays, seed);
  Outputs<float> found(shape, gap);
  Outputs<double> expected(shape, 0);
  fast(shape, in, found);
  reference(shape, Inputs<double>(in), expected);
  double largest = 0;
  auto expectations = expected.named();
  for (std::size_t index = 0; index < expectations.size(); ++index) {
    const double difference = relative_difference(*found.named()[index].second, *expectations[index].second);
    if (difference > 1e-5 || !found.named()[index].second->gaps_untouched()) {
      qWarning("%s: %g at T=%ld H=%ld P=%ld N=%ld G=%ld", expectations[index].first, difference, shape.length,
               shape.heads, shape.headdim, shape.d_state, shape.groups);
      return HUGE_VAL;
    }
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace

class TestSelectiveScan : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void cleanup() { use_simd_target(""); }

  void fast_equals_the_float64_reference() {
    std::mt19937_64 generator(1);
    const auto from = [&](std::initializer_list<std::int64_t> choices) {
      return choices.begin()[generator() % choices.size()];
    };
    double largest = 0;
    for (const std::int64_t length : {1, 2, 3, 5, 16, 31, 64, 100, 128, 257, 512, 1000, 2048, 4096}) {
      for (int repetition = 0; repetition < (length < 600 ? 12 : 3); ++repetition) {
        ScanShape shape{.batch = from({1, 2, 3}),
                        .length = length,
                        .heads = from({1, 1, 2, 3, 5, 6}),
                        .headdim = from({1, 2, 3, 4, 8, 13, 16, 17, 32, 40, 64}),
                        .d_state = from({1, 2, 3, 5, 7, 8, 8, 16, 24, 33, 64, 100})};
        shape.groups = shape.heads % 2 == 0 ? from({1, 2, shape.heads}) : from({1, shape.heads});
        const auto decays = static_cast<Decays>(repetition % 3);
        largest = std::max(largest, largest_difference(shape, from({0, 1, 7, 16}), decays, generator()));
        QVERIFY(largest <= 1e-5);
      }
    }
    qInfo("largest relative difference: %.2g", largest);
  }

  // Every rest of a tile, a block or a chunk in combination, in the layouts for small and for large states alike.
  void widths_and_lengths_around_whole_vectors() {
    std::uint64_t seed = 100;
    for (const std::int64_t length : {1, 15, 16, 17, 33}) {
      for (const std::int64_t headdim : {1, 3, 7, 15, 16, 31, 33, 48, 65}) {
        for (const std::int64_t d_state : {1, 7, 16, 24, 48, 65, 100, 256}) {
          const auto decays = static_cast<Decays>(seed % 3);
          QVERIFY(largest_difference({3, length, 2, headdim, d_state}, 3, decays, ++seed) <= 1e-5);
        }
      }
    }
  }

  void groups_share_nothing() {
    for (const std::int64_t headdim : {3, 48}) {
      const ScanShape together{.batch = 2, .length = 40, .heads = 6, .headdim = headdim, .d_state = 9, .groups = 3};
      QVERIFY(largest_difference(together, 5, Decays::extreme, 8) <= 1e-5);
      const auto in = random_inputs(together, 0, Decays::uniform, 9);
      Outputs<float> out(together, 0);
      fast(together, in, out);
      auto alone = together;
      alone.heads = 2;
      alone.groups = 1;
      const auto part = [&](const auto& rows, std::int64_t first) {
        auto moved = rows;
        moved.data += first;
        return moved;
      };
      for (std::int64_t group = 0; group < together.groups; ++group) {
        Outputs<float> expected(together, 0);
        auto view = in.view();
        view.h0 = nullptr;
        const std::int64_t channel = group * 2 * headdim, state = group * 9;
        view = {part(view.x, channel), part(view.dt, group * 2), part(view.a, group * 2),
                part(view.B, state),   part(view.C, state),      nullptr};
        auto whole = in.view();
        whole.h0 = nullptr;
        selective_scan(together, whole, out.y.rows(), nullptr, 1);
        selective_scan(alone, view, part(expected.y.rows(), channel), nullptr, 1);
        out.y.each([&](auto b, auto t, auto i) {
          if (i / (2 * headdim) == group) QCOMPARE(out.y.at(b, t, i), expected.y.at(b, t, i));
        });
      }
    }
  }

  void the_papers_shape() {
    for (const Decays decays : {Decays::near_one, Decays::uniform, Decays::extreme}) {
      QVERIFY(largest_difference({.batch = 4, .length = 512, .heads = 1, .headdim = 16, .d_state = 8}, 0, decays, 3) <=
              1e-5);
    }
  }

  void every_simd_target_agrees() {
    const auto targets = simd_targets();
    QVERIFY(!targets.empty());
    for (const std::string& target : targets) {
      use_simd_target(target);
      for (const ScanShape& shape :
           {ScanShape{2, 130, 1, 16, 8}, ScanShape{2, 65, 3, 5, 13}, ScanShape{1, 40, 2, 24, 9},
            ScanShape{2, 75, 2, 33, 100}, ScanShape{1, 257, 4, 64, 64, 2}, ScanShape{1, 100, 6, 128, 256}}) {
        const double difference = largest_difference(shape, 3, Decays::extreme, 5);
        QVERIFY2(difference <= 1e-5, target.c_str());
      }
      qInfo("%s", target.c_str());
    }
    QVERIFY_EXCEPTION_THROWN(use_simd_target("no such target"), std::invalid_argument);
  }

  // Two orders of the same sums: about 1,000 terms and fewer, where their rounding errors stay below 1e-6.
  void simd_targets_agree_with_each_other() {
    for (const ScanShape& shape : {ScanShape{2, 130, 1, 16, 8}, ScanShape{1, 75, 4, 6, 24, 2},
                                   ScanShape{2, 130, 1, 40, 24}, ScanShape{2, 65, 2, 8, 100}}) {
      for (const Decays decays : {Decays::near_one, Decays::uniform, Decays::extreme}) {
        const auto in = random_inputs(shape, 0, decays, 12);
        Outputs<float> best(shape, 0);
        fast(shape, in, best);
        for (const std::string& target : simd_targets()) {
          use_simd_target(target);
          Outputs<float> other(shape, 0);
          fast(shape, in, other);
          const auto found = other.named(), expected = best.named();
          for (std::size_t index = 0; index < found.size(); ++index) {
            const double off = relative_difference(*found[index].second, Array<double>(*expected[index].second));
            if (off > 1e-6) qWarning("%s with %s: %g", found[index].first, target.c_str(), off);
            QVERIFY(off <= 1e-6);
          }
        }
        use_simd_target("");
      }
    }
  }

  void the_reference_agrees_with_finite_differences() {
    const ScanShape shape{.batch = 2, .length = 7, .heads = 2, .headdim = 3, .d_state = 4, .groups = 2};
    Inputs<double> in(random_inputs(shape, 0, Decays::extreme, 11));
    Outputs<double> out(shape, 0);
    reference(shape, in, out);
    const auto objective = [&] {
      Outputs<double> result(shape, 0);
      selective_scan_reference<double>(shape, in.view(), result.y.rows(), result.h.numbers.data());
      double sum = 0;
      in.dy.each([&](auto b, auto t, auto i) { sum += in.dy.at(b, t, i) * result.y.at(b, t, i); });
      in.dh.each([&](auto b, auto t, auto i) { sum += in.dh.at(b, t, i) * result.h.at(b, t, i); });
      return sum;
    };
    const std::pair<Array<double>*, Array<double>*> pairs[] = {
        {&in.x, &out.dx}, {&in.dt, &out.ddt}, {&in.a, &out.da}, {&in.B, &out.dB}, {&in.C, &out.dC}, {&in.h0, &out.dh0}};
    for (const auto& [input, gradient] : pairs) {
      input->each([&](auto b, auto t, auto i) {
        constexpr double step = 1e-6;
        double& number = input->at(b, t, i);
        const double kept = number;
        number = kept + step;
        const double above = objective();
        number = kept - step;
        const double below = objective();
        number = kept;
        QVERIFY(std::abs((above - below) / (2 * step) - gradient->at(b, t, i)) < 1e-7);
      });
    }
  }

  void threads_do_not_change_a_bit() {
    for (const ScanShape& shape : {ScanShape{7, 90, 3, 8, 11}, ScanShape{7, 90, 2, 40, 70, 2}}) {
      const auto in = random_inputs(shape, 0, Decays::uniform, 2);
      Outputs<float> one(shape, 0);
      fast(shape, in, one, 1);
      for (const int threads : {1, 2, 3, 16}) {
        Outputs<float> several(shape, 0);
        fast(shape, in, several, threads);
        for (std::size_t index = 0; index < one.named().size(); ++index) {
          QCOMPARE(several.named()[index].second->numbers, one.named()[index].second->numbers);
        }
      }
    }
  }

  void a_sequence_in_two_pieces_is_the_whole() {
    const ScanShape shape{.batch = 2, .length = 50, .heads = 1, .headdim = 16, .d_state = 8};
    const auto in = random_inputs(shape, 0, Decays::uniform, 4);
    Outputs<float> whole(shape, 0), pieces(shape, 0);
    selective_scan(shape, in.view(), whole.y.rows(), whole.h.numbers.data(), 1);
    const std::int64_t first = 17;
    const auto later = [&](Rows<const float> rows) {
      return Rows<const float>{rows.data + first * rows.row_stride, rows.sequence_stride, rows.row_stride};
    };
    auto shape_first = shape, shape_rest = shape;
    shape_first.length = first;
    shape_rest.length = shape.length - first;
    std::vector<float> between(in.h0.numbers.size());
    const auto all = in.view();
    selective_scan(shape_first, all, pieces.y.rows(), between.data(), 1);
    const auto rest_y = pieces.y.rows();
    selective_scan(shape_rest, {later(all.x), later(all.dt), later(all.a), later(all.B), later(all.C), between.data()},
                   {rest_y.data + first * rest_y.row_stride, rest_y.sequence_stride, rest_y.row_stride},
                   pieces.h.numbers.data(), 1);
    QCOMPARE(pieces.y.numbers, whole.y.numbers);
    QCOMPARE(pieces.h.numbers, whole.h.numbers);
  }

  void unwanted_outputs_may_be_null() {
    const ScanShape shape{.batch = 1, .length = 20, .heads = 2, .headdim = 4, .d_state = 3};
    const auto in = random_inputs(shape, 0, Decays::uniform, 6);
    Outputs<float> all(shape, 0), one(shape, 0);
    fast(shape, in, all);
    ScanGradients<float> only_B;
    only_B.B = one.dB.rows();
    selective_scan_backward(shape, in.view(), std::as_const(in.dy).rows(), in.dh.numbers.data(), only_B, 1);
    QCOMPARE(one.dB.numbers, all.dB.numbers);

    auto inputs = in.view();
    inputs.h0 = nullptr;
    auto zero = in;
    std::fill(zero.h0.numbers.begin(), zero.h0.numbers.end(), 0.0f);
    selective_scan(shape, inputs, one.y.rows(), nullptr, 1);
    selective_scan(shape, zero.view(), all.y.rows(), nullptr, 1);
    QCOMPARE(one.y.numbers, all.y.numbers);
  }

  void nan_is_not_hidden() {
    for (const ScanShape& shape : {ScanShape{1, 9, 1, 4, 2}, ScanShape{1, 40, 1, 64, 16}}) {
      for (const std::int64_t at : {4, 7}) {
        const auto random = random_inputs(shape, 0, Decays::near_one, 6);
        for (Array<float> Inputs<float>::*array :
             {&Inputs<float>::a, &Inputs<float>::dt, &Inputs<float>::x, &Inputs<float>::B, &Inputs<float>::C}) {
          auto in = random;
          (in.*array).at(0, at, 0) = NAN;
          Outputs<float> out(shape, 0);
          fast(shape, in, out);
          const bool to_the_end = array != &Inputs<float>::C;
          QVERIFY(std::isnan(out.y.at(0, at, 0)));
          QCOMPARE(std::isnan(out.y.at(0, shape.length - 1, 0)), to_the_end);
          for (std::int64_t t = 0; t < at; ++t) QVERIFY(std::isfinite(out.y.at(0, t, 0)));
        }
      }
    }
  }
};

QTEST_APPLESS_MAIN(TestSelectiveScan)
#include "test_selective_scan.moc"
