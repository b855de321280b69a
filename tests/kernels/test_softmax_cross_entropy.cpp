// Cross entropy over large vocabularies: against float64 loops, which are held against finite differences.
#include <QTest>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "core/kernels/simd.h"
#include "core/kernels/softmax_cross_entropy.h"
#include "simd_target_data.h"

using namespace mambarium::kernels;

namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Targets = std::vector<std::int64_t>;

template <class Real>
Strided<Real> rows(std::vector<Real>& numbers, std::int64_t stride) {
  return {numbers.data(), stride};
}

Floats normal(std::int64_t count, std::uint64_t seed, float spread = 1) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> draw(0, spread);
  Floats numbers(static_cast<std::size_t>(count));
  std::ranges::generate(numbers, [&] { return draw(generator); });
  return numbers;
}

Targets targets_of(std::int64_t rows, std::int64_t vocabulary, bool ignore_some) {
  Targets targets;
  for (std::int64_t t = 0; t < rows; ++t) {
    targets.push_back(ignore_some && t % 3 == 1 ? ignored_target : (t * t * 7919 + vocabulary - 1) % vocabulary);
  }
  return targets;
}

double largest_difference(const Floats& found, const Doubles& expected) {
  double largest = 1e-30, off = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double here = std::abs(static_cast<double>(found[i]) - expected[i]);
    off = std::isfinite(here) ? std::max(off, here) : HUGE_VAL;
  }
  return off / largest;
}

constexpr double tolerance = 3e-6;  // the sum over a vocabulary, in float32 by blocks, and its exponentials

}  // namespace

class TestSoftmaxCrossEntropy : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase_data() { add_simd_targets(); }
  void init() { use_fetched_simd_target(); }
  void cleanup() { use_simd_target(""); }

  void the_reference_agrees_with_finite_differences() {
    const SoftmaxShape shape{.rows = 5, .vocabulary = 6, .width = 8};
    const auto drawn = normal(5 * 8, 1);
    Doubles logits(drawn.begin(), drawn.end()), gradient(logits.size());
    const auto targets = targets_of(5, 6, true);
    softmax_cross_entropy_reference<double>(shape, rows(logits, 8), targets.data(), rows(gradient, 8));
    for (std::size_t i = 0; i < logits.size(); ++i) {
      constexpr double step = 1e-5;
      const double kept = logits[i];
      const auto loss_at = [&](double logit) {
        logits[i] = logit;
        return softmax_cross_entropy_reference<double>(shape, rows(logits, 8), targets.data(), {});
      };
      const double slope = (loss_at(kept + step) - loss_at(kept - step)) / (2 * step);
      logits[i] = kept;
      QVERIFY(std::abs(slope - gradient[i]) < 1e-9);
    }
  }

  void loss_and_gradient_equal_float64() {
    for (const std::int64_t vocabulary : {1, 2, 5, 16, 31, 100, 256, 257, 1000, 50277, 50288}) {
      for (const float spread : {0.0f, 1.0f, 30.0f}) {
        const std::int64_t count = vocabulary > 1000 ? 3 : 8, width = vocabulary + (vocabulary % 2) * 11;
        const SoftmaxShape shape{.rows = count, .vocabulary = vocabulary, .width = width};
        const std::int64_t stride = width + 3;
        auto logits = normal(count * stride, static_cast<std::uint64_t>(vocabulary), spread);
        Doubles exact(logits.begin(), logits.end()), expected(exact);
        Floats found(logits);
        const auto targets = targets_of(count, vocabulary, count > 3);
        const double expected_loss =
            softmax_cross_entropy_reference<double>(shape, rows(exact, stride), targets.data(), rows(expected, stride));
        const double loss = softmax_cross_entropy(shape, rows(logits, stride), targets.data(), rows(found, stride), 1);
        QVERIFY(std::abs(loss - expected_loss) <= tolerance * std::max(1.0, expected_loss));
        if (spread > 0) {  // between rows there are large numbers otherwise
          for (std::int64_t t = 0; t < count; ++t) {
            for (std::int64_t i = width; i < stride; ++i) {
              const auto at = static_cast<std::size_t>(t * stride + i);
              QCOMPARE(found[at], logits[at]);
              found[at] = 0, expected[at] = 0;
            }
          }
        }
        const double difference = largest_difference(found, expected);
        QVERIFY2(vocabulary == 1 || difference <= tolerance, qPrintable(QString::number(difference)));
        QCOMPARE(softmax_cross_entropy(shape, rows(logits, stride), targets.data(), {}, 1), loss);
        softmax_cross_entropy(shape, rows(logits, stride), targets.data(), rows(logits, stride), 1);
        for (std::int64_t i = 0; i < width; ++i) {
          QCOMPARE(logits[static_cast<std::size_t>(i)], found[static_cast<std::size_t>(i)]);
        }
      }
    }
  }

  void huge_logits_are_exact() {
    for (const float size : {1e4f, 1e30f, 3e38f}) {
      const std::int64_t vocabulary = 1000;
      Floats logits(1000, -size), gradient(1000);
      logits[7] = size;
      logits[901] = size;
      const SoftmaxShape shape{.rows = 1, .vocabulary = vocabulary, .width = vocabulary};
      const Targets target = {901}, other = {8};
      const double loss = softmax_cross_entropy(shape, rows(logits, 1000), target.data(), rows(gradient, 1000), 1);
      QVERIFY(std::abs(loss - std::log(2)) < 1e-6);
      QCOMPARE(gradient[7], 0.5f);
      QCOMPARE(gradient[901], -0.5f);
      QCOMPARE(gradient[8], 0.0f);
      const double far = softmax_cross_entropy(shape, rows(logits, 1000), other.data(), {}, 1);
      QVERIFY(std::abs(far / (2 * static_cast<double>(size)) - 1) < 1e-4);
    }
  }

  void forbidden_tokens_and_nan() {
    Floats logits(40, -std::numeric_limits<float>::infinity()), gradient(40);
    logits[33] = -1000;
    const SoftmaxShape shape{.rows = 1, .vocabulary = 40, .width = 40};
    const Targets target = {33};
    QCOMPARE(softmax_cross_entropy(shape, rows(logits, 40), target.data(), rows(gradient, 40), 1), 0.0);
    QVERIFY(std::ranges::all_of(gradient, [](float number) { return number == 0; }));
    logits[2] = NAN;
    QVERIFY(std::isnan(softmax_cross_entropy(shape, rows(logits, 40), target.data(), {}, 1)));
  }

  void padding_takes_no_part() {
    const SoftmaxShape shape{.rows = 4, .vocabulary = 50, .width = 64};
    auto logits = normal(4 * 64, 1), other = logits;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (i % 64 >= 50) other[i] = i % 2 == 0 ? NAN : 1e30f;
    }
    const auto targets = targets_of(4, 50, false);
    Floats gradient(4 * 64, 1), of_other(4 * 64, 2);
    QCOMPARE(softmax_cross_entropy(shape, rows(other, 64), targets.data(), rows(of_other, 64), 1),
             softmax_cross_entropy(shape, rows(logits, 64), targets.data(), rows(gradient, 64), 1));
    QCOMPARE(of_other, gradient);
    QCOMPARE(gradient[50], 0.0f);
    QCOMPARE(gradient[63], 0.0f);
  }

  void rows_that_are_ignored_take_no_part() {
    const SoftmaxShape shape{.rows = 3, .vocabulary = 20, .width = 20};
    auto logits = normal(60, 1);
    std::fill_n(logits.begin() + 20, 20, NAN);
    Floats gradient(60, 1), alone(20);
    const Targets some = {3, ignored_target, ignored_target}, none = {-1, -1, -1};
    const SoftmaxShape first{.rows = 1, .vocabulary = 20, .width = 20};
    const double loss = softmax_cross_entropy(shape, rows(logits, 20), some.data(), rows(gradient, 20), 1);
    QCOMPARE(loss, softmax_cross_entropy(first, rows(logits, 20), some.data(), rows(alone, 20), 1));
    QVERIFY(std::equal(alone.begin(), alone.end(), gradient.begin()));
    QVERIFY(std::all_of(gradient.begin() + 20, gradient.end(), [](float number) { return number == 0; }));
    QCOMPARE(softmax_cross_entropy(shape, rows(logits, 20), none.data(), rows(gradient, 20), 1), 0.0);
    QVERIFY(std::ranges::all_of(gradient, [](float number) { return number == 0; }));
  }

  void a_target_outside_is_named() {
    Floats logits(40);
    const SoftmaxShape shape{.rows = 2, .vocabulary = 18, .width = 20};
    for (const std::int64_t target : {18, -2}) {
      const Targets targets = {0, target};
      try {
        softmax_cross_entropy(shape, rows(logits, 20), targets.data(), {}, 1);
        QFAIL("not refused");
      } catch (const std::out_of_range& error) {
        QCOMPARE(QString(error.what()), QString("row 1: target %1 is outside -1 .. 17").arg(target));
      }
    }
  }

  void from_hidden_rows_it_is_the_same() {
    struct Case {
      HeadShape shape;
      int threads;
    };
    for (const auto& [s, threads] : {Case{{1, 3, 7, 7}, 1}, Case{{70, 16, 300, 320}, 1}, Case{{130, 21, 515, 515}, 3},
                                     Case{{5, 64, 5000, 5008}, 2}}) {
      auto hidden = normal(s.rows * (s.d_model + 2), 1), head = normal(s.width * s.d_model, 2);
      const auto targets = targets_of(s.rows, s.vocabulary, s.rows > 1);
      const std::int64_t stride = s.d_model + 2;
      const auto at = [](const auto& numbers, std::int64_t i) {
        return static_cast<double>(numbers[static_cast<std::size_t>(i)]);
      };
      Doubles logits, dlogits(static_cast<std::size_t>(s.rows * s.width));
      for (std::int64_t t = 0; t < s.rows; ++t) {
        for (std::int64_t v = 0; v < s.width; ++v) {
          double sum = 0;
          for (std::int64_t k = 0; k < s.d_model; ++k) {
            sum += at(hidden, t * stride + k) * at(head, v * s.d_model + k);
          }
          logits.push_back(sum);
        }
      }
      const SoftmaxShape shape{.rows = s.rows, .vocabulary = s.vocabulary, .width = s.width};
      const double expected_loss =
          softmax_cross_entropy_reference<double>(shape, rows(logits, s.width), targets.data(), rows(dlogits, s.width));
      Doubles expected_dhidden(hidden.begin(), hidden.end()), expected_dhead(head.size());
      for (std::int64_t t = 0; t < s.rows; ++t) {
        for (std::int64_t k = 0; k < s.d_model; ++k) {
          double& sum = expected_dhidden[static_cast<std::size_t>(t * stride + k)];
          sum = 0;
          for (std::int64_t v = 0; v < s.width; ++v) {
            const double dlogit = at(dlogits, t * s.width + v);
            sum += dlogit * at(head, v * s.d_model + k);
            expected_dhead[static_cast<std::size_t>(v * s.d_model + k)] += dlogit * at(hidden, t * stride + k);
          }
        }
      }
      auto dhidden = hidden;
      Floats dhead(head.size(), 5);
      const double loss = head_cross_entropy(s, rows(hidden, stride), head.data(), targets.data(),
                                             rows(dhidden, stride), dhead.data(), threads);
      QVERIFY(std::abs(loss - expected_loss) <= tolerance * expected_loss);
      for (std::int64_t t = 0; t < s.rows; ++t) {  // what lies between rows stays, and is no gradient
        for (std::int64_t i = t * stride + s.d_model; i < (t + 1) * stride; ++i) {
          QCOMPARE(dhidden[static_cast<std::size_t>(i)], hidden[static_cast<std::size_t>(i)]);
          dhidden[static_cast<std::size_t>(i)] = 0, expected_dhidden[static_cast<std::size_t>(i)] = 0;
        }
      }
      constexpr double of_products = 1e-5;
      QVERIFY(largest_difference(dhidden, expected_dhidden) <= of_products);
      QVERIFY(largest_difference(dhead, expected_dhead) <= of_products);

      auto in_place = hidden;
      Floats one_thread(head.size());
      QCOMPARE(head_cross_entropy(s, rows(in_place, stride), head.data(), targets.data(), rows(in_place, stride),
                                  one_thread.data(), 1),
               loss);
      QCOMPARE(one_thread, dhead);
      QCOMPARE(in_place[0], dhidden[0]);
      QCOMPARE(head_cross_entropy(s, rows(hidden, stride), head.data(), targets.data(), {}, nullptr, 2), loss);
    }
  }

  void threads_do_not_change_a_bit() {
    const SoftmaxShape shape{.rows = 37, .vocabulary = 300, .width = 304};
    auto logits = normal(37 * 304, 9, 3);
    const auto targets = targets_of(37, 300, true);
    Floats one(logits.size()), several(logits.size());
    const double loss = softmax_cross_entropy(shape, rows(logits, 304), targets.data(), rows(one, 304), 1);
    for (const int threads : {2, 5, 64}) {
      QCOMPARE(softmax_cross_entropy(shape, rows(logits, 304), targets.data(), rows(several, 304), threads), loss);
      QCOMPARE(several, one);
    }
  }
};

QTEST_APPLESS_MAIN(TestSoftmaxCrossEntropy)
#include "test_softmax_cross_entropy.moc"
