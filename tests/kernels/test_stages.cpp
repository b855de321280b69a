// The stages around the scan, each against plain loops in double; gradients against central differences of those loops.
#include <QTest>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "core/kernels/causal_convolution.h"
#include "core/kernels/cross_entropy.h"
#include "core/kernels/decay.h"
#include "core/kernels/gated_activation.h"
#include "core/kernels/layer_norm.h"
#include "core/kernels/matrix_product.h"
#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"
#include "simd_target_data.h"

using namespace mambarium;
using namespace mambarium::kernels;

namespace {

using Doubles = std::vector<double>;

// Rows with a gap behind each, exactly as long as their view: reading or writing beyond is seen by a sanitizer or
// `intact`.
class Matrix {
 public:
  Matrix(std::int64_t rows, std::int64_t width, std::int64_t gap = 3)
      : rows_(rows), width_(width), stride_(width + gap), numbers_(size(rows * stride_ - gap), guard) {}
  static Matrix random(std::int64_t rows, std::int64_t width, std::uint64_t seed, float spread = 1.0f) {
    Matrix matrix(rows, width);
    std::mt19937_64 generator(seed);
    std::normal_distribution<float> normal(0.0f, spread);
    matrix.each([&](float& number) { number = normal(generator); });
    return matrix;
  }
  template <class Work>
  void each(const Work& work) {
    for (std::int64_t t = 0; t < rows_; ++t) {
      for (std::int64_t i = 0; i < width_; ++i) {
        work(numbers_[size(t * stride_ + i)]);
      }
    }
  }
  Strided<float> view() { return {numbers_.data(), stride_}; }
  Strided<const float> view() const { return {numbers_.data(), stride_}; }
  Doubles doubles() const {
    Doubles result;
    const_cast<Matrix*>(this)->each([&](float& number) { result.push_back(static_cast<double>(number)); });
    return result;
  }
  bool intact() const {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(numbers_.size()); ++i) {
      if (i % stride_ >= width_ && numbers_[size(i)] != guard) {
        return false;
      }
    }
    return true;
  }

 private:
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
  static constexpr float guard = 777.25f;
  std::int64_t rows_, width_, stride_;
  std::vector<float> numbers_;
};

Doubles doubles(const std::vector<float>& numbers) {
  return {numbers.begin(), numbers.end()};
}

std::vector<float> random_vector(std::int64_t count, std::uint64_t seed) {
  const auto numbers = Matrix::random(1, count, seed).doubles();
  return {numbers.begin(), numbers.end()};
}

double activated(double x, Activation activation) {
  return activation == Activation::silu   ? x / (1 + std::exp(-x))
         : activation == Activation::relu ? std::max(x, 0.0)
                                          : x;
}

double dot(const Doubles& a, const Doubles& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

bool close(const char* what, const Doubles& found, const Doubles& expected, double tolerance) {
  double largest = 0, off = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    off = std::max(off, std::abs(found[i] - expected[i]));
  }
  const bool good = found.size() == expected.size() && off <= tolerance * std::max(largest, 1e-3);
  if (!good) {
    qWarning("%s: off by %g where the largest is %g", what, off, largest);
  }
  return good;
}

// d <output, weights> / d inputs[i], for every number of every input.
using Function = std::function<Doubles(const std::vector<Doubles>&)>;
std::vector<Doubles> differences(const Function& function, std::vector<Doubles> inputs, const Doubles& weights) {
  std::vector<Doubles> gradients;
  for (auto& input : inputs) {
    Doubles& gradient = gradients.emplace_back();
    for (double& number : input) {
      constexpr double step = 1e-6;
      const double kept = number;
      number = kept + step;
      const double above = dot(function(inputs), weights);
      number = kept - step;
      const double below = dot(function(inputs), weights);
      number = kept;
      gradient.push_back((above - below) / (2 * step));
    }
  }
  return gradients;
}

const Activation activations[] = {Activation::silu, Activation::relu, Activation::none};

}  // namespace

class TestStages : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { use_fetched_simd_target(); }
  void cleanup() { use_simd_target(""); }
  void initTestCase_data() { add_simd_targets(); }

  void activations_are_accurate_everywhere() {
    std::vector<float> x;
    for (float magnitude = 1e-6f; magnitude < 1e37f; magnitude *= 1.01f) {
      x.push_back(magnitude);
      x.push_back(-magnitude);
    }
    const auto count = static_cast<std::int64_t>(x.size());
    for (const Activation activation : activations) {
      std::vector<float> out(x.size()), slope(x.size()), ones(x.size(), 1.0f);
      gated_activation(1, count, {}, {x.data(), count}, activation, {out.data(), count});
      gated_activation_backward(1, count, {}, {x.data(), count}, activation, {ones.data(), count}, {},
                                {slope.data(), count}, {});
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double number = static_cast<double>(x[i]), s = 1 / (1 + std::exp(-number));
        const double expected = activated(number, activation);
        const double expected_slope = activation == Activation::silu   ? s + expected * (1 - s)
                                      : activation == Activation::relu ? (number > 0 ? 1.0 : 0.0)
                                                                       : 1.0;
        const double off = std::abs(static_cast<double>(out[i]) - expected);
        const double slope_off = std::abs(static_cast<double>(slope[i]) - expected_slope);
        if (off > 5e-7 * std::abs(expected) + 1e-35 || slope_off > 5e-7) {
          QFAIL(qPrintable(QString("activation %1 at %2: off by %3, slope by %4")
                               .arg(static_cast<int>(activation))
                               .arg(number)
                               .arg(off)
                               .arg(slope_off)));
        }
      }
    }
  }

  void step_size_and_decay() {
    const std::int64_t length = 203, heads = 3;
    Matrix raw(length, heads);
    float next = -100;
    raw.each([&](float& number) { number = next, next += 200.0f / static_cast<float>(length * heads); });
    const std::vector<float> bias = {0, 0.25f, -3}, A_log = {0, 2.5f, 6};
    const auto count = static_cast<std::size_t>(length * heads);
    std::vector<float> dt(count), a(count);
    decay(length, heads, raw.view(), bias.data(), A_log.data(), dt.data(), a.data());
    const auto numbers = raw.doubles();
    for (std::size_t i = 0; i < count; ++i) {
      const double x = numbers[i] + static_cast<double>(bias[i % 3]);
      const double softplus = std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
      QVERIFY(std::abs(static_cast<double>(dt[i]) - softplus) <= 1e-6 * softplus + 1e-37);
      const double exponent = std::exp(static_cast<double>(A_log[i % 3])) * softplus;
      QVERIFY(std::abs(static_cast<double>(a[i]) - std::exp(-exponent)) <=
              1e-6 * (1 + exponent) * std::exp(-exponent) + 1e-37);
      QVERIFY(a[i] >= 0 && a[i] <= 1);
    }
    decay(length, heads, raw.view(), bias.data(), nullptr, dt.data(), a.data());
    QVERIFY(std::ranges::all_of(a, [](float one) { return one == 1.0f; }));
  }

  void step_size_and_decay_gradients() {
    const std::int64_t length = 9, heads = 2;
    const auto raw = Matrix::random(length, heads, 1);
    const auto bias = random_vector(heads, 2), A_log = random_vector(heads, 3);
    const auto ddt = random_vector(length * heads, 4), da = random_vector(length * heads, 5);
    std::vector<float> dt(ddt.size()), a(ddt.size()), dbias(2, 0.5f), dA_log(2, -0.5f);
    Scratch scratch;
    Matrix draw(length, heads);
    decay(length, heads, raw.view(), bias.data(), A_log.data(), dt.data(), a.data());
    decay_backward(length, heads, raw.view(), bias.data(), A_log.data(), dt.data(), a.data(), ddt.data(), da.data(),
                   draw.view(), dbias.data(), dA_log.data(), scratch);
    const Function function = [&](const std::vector<Doubles>& in) {
      Doubles steps, decays;
      for (std::size_t i = 0; i < in[0].size(); ++i) {
        steps.push_back(std::log1p(std::exp(in[0][i] + in[1][i % 2])));
        decays.push_back(std::exp(-std::exp(in[2][i % 2]) * steps.back()));
      }
      steps.insert(steps.end(), decays.begin(), decays.end());
      return steps;
    };
    Doubles weights = doubles(ddt);
    const Doubles more = doubles(da);
    weights.insert(weights.end(), more.begin(), more.end());
    auto expected = differences(function, {raw.doubles(), doubles(bias), doubles(A_log)}, weights);
    for (std::size_t h = 0; h < 2; ++h) {
      expected[1][h] += 0.5;
      expected[2][h] -= 0.5;
    }
    QVERIFY(close("raw", draw.doubles(), expected[0], 1e-5) && draw.intact());
    QVERIFY(close("dt_bias", doubles(dbias), expected[1], 1e-5));
    QVERIFY(close("A_log", doubles(dA_log), expected[2], 1e-5));
  }

  void convolution() {
    for (const std::int64_t channels : {1, 5, 16, 35}) {
      for (const std::int64_t window : {1, 2, 3, 4, 5, 9}) {
        for (const Activation activation : activations) {
          const ConvolutionShape shape{.length = 6, .channels = channels, .window = window};
          const auto in = Matrix::random(shape.length, channels, 1), dout = Matrix::random(shape.length, channels, 4);
          const auto taps = random_vector(window * channels, 2), bias = random_vector(channels, 3);
          Matrix out(shape.length, channels), slope(shape.length, channels), din(shape.length, channels);
          std::vector<float> dtaps(taps.size()), dbias(bias.size());
          causal_convolution(shape, in.view(), taps.data(), bias.data(), activation, out.view(), slope.view());
          causal_convolution_backward(shape, in.view(), taps.data(), slope.view(), dout.view(), din.view(),
                                      dtaps.data(), dbias.data());
          const Function function = [&](const std::vector<Doubles>& inputs) {
            Doubles result;
            for (std::int64_t t = 0; t < shape.length; ++t) {
              for (std::int64_t c = 0; c < channels; ++c) {
                double sum = inputs[2][static_cast<std::size_t>(c)];
                for (std::int64_t back = 0; back < window && back <= t; ++back) {
                  sum += inputs[1][static_cast<std::size_t>((window - 1 - back) * channels + c)] *
                         inputs[0][static_cast<std::size_t>((t - back) * channels + c)];
                }
                result.push_back(activated(sum, activation));
              }
            }
            return result;
          };
          const std::vector<Doubles> inputs = {in.doubles(), doubles(taps), doubles(bias)};
          QVERIFY(close("out", out.doubles(), function(inputs), 1e-6) && out.intact() && slope.intact());
          const auto expected = differences(function, inputs, dout.doubles());
          QVERIFY(close("in", din.doubles(), expected[0], 1e-5) && din.intact());
          QVERIFY(close("taps", doubles(dtaps), expected[1], 1e-5));
          QVERIFY(close("bias", doubles(dbias), expected[2], 1e-5));
        }
      }
    }
  }

  void norm() {
    for (const std::int64_t width : {2, 3, 8, 15, 16, 17, 70}) {
      for (const std::int64_t length : {1, 4, 6}) {
        const auto in = Matrix::random(length, width, 1, 3), dout = Matrix::random(length, width, 2);
        const auto weight = random_vector(width, 3);
        Matrix out(length, width), din(length, width);
        std::vector<float> dweight(weight.size(), 1.0f);
        layer_norm(length, width, in.view(), weight.data(), out.view());
        layer_norm_backward(length, width, in.view(), weight.data(), dout.view(), din.view(), false, dweight.data());
        const Function function = [&](const std::vector<Doubles>& inputs) {
          Doubles result;
          for (std::int64_t t = 0; t < length; ++t) {
            const double* row = inputs[0].data() + t * width;
            double mean = 0, variance = 0;
            for (std::int64_t i = 0; i < width; ++i) mean += row[i] / static_cast<double>(width);
            for (std::int64_t i = 0; i < width; ++i)
              variance += (row[i] - mean) * (row[i] - mean) / static_cast<double>(width);
            for (std::int64_t i = 0; i < width; ++i) {
              result.push_back((row[i] - mean) / std::sqrt(variance + 1e-5) * inputs[1][static_cast<std::size_t>(i)]);
            }
          }
          return result;
        };
        const std::vector<Doubles> inputs = {in.doubles(), doubles(weight)};
        QVERIFY(close("out", out.doubles(), function(inputs), 2e-6) && out.intact());
        auto expected = differences(function, inputs, dout.doubles());
        QVERIFY(close("in", din.doubles(), expected[0], 1e-4) && din.intact());
        for (double& number : expected[1]) number += 1;
        QVERIFY(close("weight", doubles(dweight), expected[1], 1e-5));

        // Added to what is there, and in place.
        auto sum = dout, in_place = dout;
        layer_norm_backward(length, width, in.view(), weight.data(), dout.view(), sum.view(), true, dweight.data());
        layer_norm_backward(length, width, in.view(), weight.data(), in_place.view(), in_place.view(), false,
                            dweight.data());
        QVERIFY(close("in place", in_place.doubles(), din.doubles(), 1e-6));
        auto total = din.doubles();
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += dout.doubles()[i];
        QVERIFY(close("added", sum.doubles(), total, 1e-6));
      }
    }
  }

  void gate() {
    for (const std::int64_t width : {1, 7, 16, 33}) {
      for (const Activation activation : activations) {
        const auto value = Matrix::random(3, width, 1), gates = Matrix::random(3, width, 2),
                   dout = Matrix::random(3, width, 3);
        Matrix out(3, width), again(3, width), dvalue(3, width), dgate(3, width);
        gated_activation(3, width, value.view(), gates.view(), activation, out.view());
        gated_activation_backward(3, width, value.view(), gates.view(), activation, dout.view(), dvalue.view(),
                                  dgate.view(), again.view());
        const Function function = [&](const std::vector<Doubles>& inputs) {
          Doubles result;
          for (std::size_t i = 0; i < inputs[0].size(); ++i) {
            result.push_back(inputs[0][i] * activated(inputs[1][i], activation));
          }
          return result;
        };
        const std::vector<Doubles> inputs = {value.doubles(), gates.doubles()};
        QVERIFY(close("out", out.doubles(), function(inputs), 1e-6) && out.intact());
        QCOMPARE(again.doubles(), out.doubles());
        const auto expected = differences(function, inputs, dout.doubles());
        QVERIFY(close("value", dvalue.doubles(), expected[0], 1e-5) && dvalue.intact());
        QVERIFY(close("gate", dgate.doubles(), expected[1], 1e-5) && dgate.intact());
      }
    }
  }

  void matrix_products() {
    Scratch scratch;
    std::uint64_t seed = 0;
    for (const std::int64_t length : {1, 3, 8, 21}) {
      for (const std::int64_t depth : {1, 8, 33}) {
        for (const std::int64_t width : {1, 8, 16, 17, 49, 64, 100}) {
          const Scratch::Frame frame(scratch);
          const auto left = Matrix::random(length, depth, ++seed), right = Matrix::random(depth, width, ++seed);
          const auto right_rows = Matrix::random(length, width, ++seed);
          const auto padded = scratch.rows(depth, width), sum = scratch.rows(depth, width);
          std::fill_n(padded.data, depth * padded.stride, NAN);
          for (std::int64_t k = 0; k < depth; ++k) {
            std::copy_n(right.view().row(k), width, padded.row(k));
            std::fill_n(sum.row(k), sum.stride, 0.5f);
          }
          Matrix out(length, width);
          auto added = right_rows;
          product(length, depth, width, left.view(), padded, out.view(), false);
          product(length, depth, width, left.view(), padded, added.view(), true);
          add_outer_products(length, depth, width, left.view(), right_rows.view(), sum);

          const auto l = left.doubles(), r = right.doubles(), rows = right_rows.doubles();
          Doubles plain, more, outer, found;
          for (std::int64_t t = 0; t < length; ++t) {
            for (std::int64_t n = 0; n < width; ++n) {
              double total = 0;
              for (std::int64_t k = 0; k < depth; ++k) {
                total += l[static_cast<std::size_t>(t * depth + k)] * r[static_cast<std::size_t>(k * width + n)];
              }
              plain.push_back(total);
              more.push_back(total + rows[static_cast<std::size_t>(t * width + n)]);
            }
          }
          for (std::int64_t k = 0; k < depth; ++k) {
            for (std::int64_t n = 0; n < width; ++n) {
              double total = 0.5;
              for (std::int64_t t = 0; t < length; ++t) {
                total += l[static_cast<std::size_t>(t * depth + k)] * rows[static_cast<std::size_t>(t * width + n)];
              }
              outer.push_back(total);
              found.push_back(static_cast<double>(sum.row(k)[n]));
            }
          }
          QVERIFY(close("product", out.doubles(), plain, 3e-6) && out.intact());
          QVERIFY(close("added", added.doubles(), more, 3e-6) && added.intact());
          QVERIFY(close("outer", found, outer, 3e-6));
        }
      }
    }
  }

  void cross_entropy_and_its_gradients() {
    for (const bool l1 : {false, true}) {
      for (const bool normed : {false, true}) {
        for (const std::int64_t states : {2, 3, 20}) {
          const std::int64_t rows = 37, d_model = 5;
          const auto u = Matrix::random(rows, d_model, 1), lm_head = Matrix::random(states, d_model, 2);
          const auto flat = lm_head.doubles();
          std::vector<float> head(flat.begin(), flat.end()), norm = random_vector(d_model, 3);
          std::vector<float> dhead(head.size()), dnorm(norm.size());
          std::vector<std::int64_t> targets;
          for (std::int64_t t = 0; t < rows; ++t) targets.push_back(t * t % states);
          Matrix du(rows, d_model);
          const ReadOutShape shape{.rows = rows, .d_model = d_model, .states = states, .l1 = l1};
          const ReadOutTensors<const float> weights{normed ? norm.data() : nullptr, head.data()};
          const double loss = cross_entropy(shape, weights, u.view(), targets.data(), du.view(),
                                            {normed ? dnorm.data() : nullptr, dhead.data()}, 1);
          const Function function = [&](const std::vector<Doubles>& in) {
            double total = 0;
            for (std::int64_t t = 0; t < rows; ++t) {
              Doubles row(in[0].begin() + t * d_model, in[0].begin() + (t + 1) * d_model);
              if (normed) {
                double mean = 0, variance = 0;
                for (const double x : row) mean += x / 5;
                for (const double x : row) variance += (x - mean) * (x - mean) / 5;
                for (std::size_t k = 0; k < 5; ++k) row[k] = (row[k] - mean) / std::sqrt(variance + 1e-5) * in[2][k];
              }
              double sum = 0, target = 0;
              for (std::int64_t s = 0; s < states; ++s) {
                double logit = 0;
                for (std::size_t k = 0; k < 5; ++k) logit += row[k] * in[1][static_cast<std::size_t>(s) * 5 + k];
                const double weight = l1 ? std::max(logit, 0.0) + 1e-5 : std::exp(logit);
                sum += weight;
                if (s == targets[static_cast<std::size_t>(t)]) target = weight;
              }
              total -= std::log(target / sum) / static_cast<double>(rows);
            }
            return Doubles{total};
          };
          const std::vector<Doubles> inputs = {u.doubles(), doubles(head), doubles(norm)};
          QVERIFY(close("loss", {loss}, function(inputs), 1e-6));
          const auto expected = differences(function, inputs, {1});
          QVERIFY(close("u", du.doubles(), expected[0], 2e-5) && du.intact());
          QVERIFY(close("lm_head", doubles(dhead), expected[1], 2e-5));
          if (normed) {
            QVERIFY(close("norm", doubles(dnorm), expected[2], 2e-5));
          }
          QCOMPARE(cross_entropy(shape, weights, u.view(), targets.data(), {}, {}, 3), loss);
        }
      }
    }
  }

  void ranges_cover_everything_once_and_errors_come_back() {
    for (const int threads : {1, 2, 7}) {
      std::vector<int> seen(20);
      parallel_ranges(20, threads, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      QVERIFY(std::ranges::all_of(seen, [](int count) { return count == 1; }));
      QVERIFY_EXCEPTION_THROWN(parallel_ranges(20, threads, [](std::int64_t, std::int64_t) { throw std::bad_alloc(); }),
                               std::bad_alloc);
    }
  }
};

QTEST_APPLESS_MAIN(TestStages)
#include "test_stages.moc"
