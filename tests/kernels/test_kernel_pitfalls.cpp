// What other implementations of these kernels have got wrong (docs/known-pitfalls.md), where no model is needed.
#include <sys/mman.h>

#include <QFile>
#include <QRegularExpression>
#include <QTest>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <random>
#include <vector>

#include "core/kernels/causal_convolution.h"
#include "core/kernels/decay.h"
#include "core/kernels/diagonal_scan.h"
#include "core/kernels/gated_activation.h"
#include "core/kernels/layer_norm.h"
#include "core/kernels/rms_norm.h"
#include "core/kernels/selective_scan.h"
#include "core/kernels/softmax_cross_entropy.h"

using namespace mambarium;
using namespace mambarium::kernels;

namespace {

std::atomic<std::int64_t> allocated = 0, highest = 0;

void count(std::int64_t bytes) {
  const std::int64_t now = allocated += bytes;
  std::int64_t before = highest;
  while (before < now && !highest.compare_exchange_weak(before, now)) {
  }
}

// In front of what is handed out lie its size and the pointer malloc gave.
void* take(std::size_t size, std::size_t alignment) {
  const std::size_t room = std::max(alignment, 2 * sizeof(void*));
  auto* whole = static_cast<std::byte*>(std::aligned_alloc(room, (size + 2 * room - 1) / room * room));
  if (whole == nullptr) {
    throw std::bad_alloc();
  }
  std::byte* given = whole + room;
  reinterpret_cast<std::size_t*>(given)[-1] = size;
  reinterpret_cast<void**>(given)[-2] = whole;
  count(static_cast<std::int64_t>(size));
  return given;
}

void give_back(void* given) {
  if (given != nullptr) {
    count(-static_cast<std::int64_t>(static_cast<std::size_t*>(given)[-1]));
    std::free(static_cast<void**>(given)[-2]);
  }
}

}  // namespace

// The kernels' scratch comes from here; the other forms of new stay as they are.
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return take(size, static_cast<std::size_t>(alignment));
}
void operator delete[](void* given, std::align_val_t) noexcept {
  give_back(given);
}
void operator delete[](void* given, std::size_t, std::align_val_t) noexcept {
  give_back(given);
}

namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

std::size_t size(std::int64_t number) {
  return static_cast<std::size_t>(number);
}

Floats normal(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> draw;
  Floats numbers(size(count));
  std::ranges::generate(numbers, [&] { return draw(generator); });
  return numbers;
}

Rows<float> rows(Floats& numbers, std::int64_t length, std::int64_t width) {
  return {numbers.data(), length * width, width};
}

std::int64_t peak_of(const std::function<void()>& work) {
  const std::int64_t before = allocated;
  highest = before;
  work();
  return highest - before;
}

// Address space for rows that lie so far apart that their offsets need more than 32 bits. Only what is touched exists.
class FarRows {
 public:
  static constexpr std::int64_t stride = (std::int64_t{1} << 30) + 17, length = 4;

  FarRows() {
    void* const space =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = space == MAP_FAILED ? nullptr : static_cast<float*>(space);
  }
  ~FarRows() {
    if (data_ != nullptr) ::munmap(data_, bytes);
  }
  FarRows(const FarRows&) = delete;
  FarRows& operator=(const FarRows&) = delete;

  explicit operator bool() const { return data_ != nullptr; }
  Strided<float> view() const { return {data_, stride}; }
  Rows<float> batch() const { return {data_, length * stride, stride}; }
  void put(const Floats& numbers) const {
    const std::int64_t width = static_cast<std::int64_t>(numbers.size()) / length;
    for (std::int64_t t = 0; t < length; ++t) {
      std::copy_n(numbers.begin() + t * width, width, view().row(t));
    }
  }
  Floats get(std::int64_t width) const {
    Floats numbers;
    for (std::int64_t t = 0; t < length; ++t) {
      numbers.insert(numbers.end(), view().row(t), view().row(t) + width);
    }
    return numbers;
  }

 private:
  static constexpr std::size_t bytes = static_cast<std::size_t>(length * stride) * sizeof(float);
  float* data_ = nullptr;
};

double off_by(const Floats& found, const Doubles& expected, double floor = 1e-20) {
  double largest = floor, difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double here = std::abs(static_cast<double>(found[i]) - expected[i]);
    difference = std::isfinite(here) ? std::max(difference, here) : HUGE_VAL;
  }
  return difference / largest;
}

// From the projection of dt to y and back, with one head: what a mixer does around its scan.
struct DecayedScan {
  std::int64_t length, headdim, d_state;
  Floats raw{}, x{}, B{}, C{}, h0{}, dy{};
  float dt_bias = 0, A_log = 0;

  struct Gradients {
    Floats raw, x, B, C, h0, dt_bias, A_log;
  };

  ScanShape shape() const { return {1, length, 1, headdim, d_state}; }

  Gradients fast() {
    Floats dt(size(length)), a(size(length)), ddt(size(length)), da(size(length)), y(x.size());
    Gradients g{raw, x, B, C, h0, {0}, {0}};
    Scratch scratch;
    decay(length, 1, {raw.data(), 1}, &dt_bias, &A_log, dt.data(), a.data());
    const ScanInputs<float> in{rows(x, length, headdim), rows(dt, length, 1),      rows(a, length, 1),
                               rows(B, length, d_state), rows(C, length, d_state), h0.data()};
    selective_scan_backward(shape(), in, rows(dy, length, headdim), nullptr,
                            {rows(g.x, length, headdim), rows(ddt, length, 1), rows(da, length, 1),
                             rows(g.B, length, d_state), rows(g.C, length, d_state), g.h0.data()},
                            1);
    decay_backward(length, 1, {raw.data(), 1}, &dt_bias, &A_log, dt.data(), a.data(), ddt.data(), da.data(),
                   {g.raw.data(), 1}, g.dt_bias.data(), g.A_log.data(), scratch);
    return g;
  }

  std::vector<Doubles> exact() const {
    const auto wide = [](const Floats& numbers) { return Doubles(numbers.begin(), numbers.end()); };
    Doubles dt, a, wide_x = wide(x), wide_B = wide(B), wide_C = wide(C), wide_h0 = wide(h0), wide_dy = wide(dy);
    const double rate = std::exp(static_cast<double>(A_log));
    for (const float number : raw) {
      const double sum = static_cast<double>(number) + static_cast<double>(dt_bias);
      dt.push_back(std::max(sum, 0.0) + std::log1p(std::exp(-std::abs(sum))));
      a.push_back(std::exp(-rate * dt.back()));
    }
    Doubles ddt(dt), da(a), dx(wide_x), dB(wide_B), dC(wide_C), dh0(wide_h0), draw, dbias{0}, dA_log{0};
    const auto view = [&](Doubles& numbers, std::int64_t width) {
      return Rows<double>{numbers.data(), length * width, width};
    };
    const ScanInputs<double> in{view(wide_x, headdim), view(dt, 1),           view(a, 1),
                                view(wide_B, d_state), view(wide_C, d_state), wide_h0.data()};
    selective_scan_backward_reference<double>(
        shape(), in, view(wide_dy, headdim), nullptr,
        {view(dx, headdim), view(ddt, 1), view(da, 1), view(dB, d_state), view(dC, d_state), dh0.data()});
    for (std::size_t t = 0; t < dt.size(); ++t) {
      const double sum = static_cast<double>(raw[t]) + static_cast<double>(dt_bias);
      const double into_exponent = da[t] * a[t];
      draw.push_back((ddt[t] - rate * into_exponent) / (1 + std::exp(-sum)));
      dbias[0] += draw.back();
      dA_log[0] -= rate * dt[t] * into_exponent;
    }
    return {draw, dx, dB, dC, dh0, dbias, dA_log};
  }
};

// The largest difference from float64. Gradients of dt_bias and A_log are sums of the projection's, which cancel: those
// are what they are measured against.
double worst_gradient(DecayedScan& scan) {
  const auto g = scan.fast();
  const auto expected = scan.exact();
  double of_raw = 0, worst = 0;
  for (const double number : expected[0]) of_raw = std::max(of_raw, std::abs(number));
  const Floats* found[] = {&g.raw, &g.x, &g.B, &g.C, &g.h0, &g.dt_bias, &g.A_log};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, off_by(*found[i], expected[i], i < 5 ? 1e-20 : of_raw));
  }
  return worst;
}

}  // namespace

class TestKernelPitfalls : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // dt A from -1e-6 to -1e4 within one sequence, decays of exactly 0 and of 1, and chunks of every size up to 33.
  void gradients_of_extreme_decays() {
    std::mt19937_64 generator(1);
    std::uniform_real_distribution<float> uniform;
    for (const std::int64_t length : {1, 2, 3, 7, 30, 101, 600, 1100}) {
      for (const float A_log : {-9.2f, 0.0f, 2.77f, 6.9f}) {
        DecayedScan scan{.length = length, .headdim = 5, .d_state = 9};
        for (std::int64_t t = 0; t < length; ++t) {
          const float log_dt = -4.6f + 6.9f * uniform(generator);  // dt from 0.01 to 10
          const float dt = std::exp(log_dt);
          scan.raw.push_back(dt + std::log(-std::expm1(-dt)));
        }
        scan.x = normal(length * 5, 2), scan.B = normal(length * 9, 3), scan.C = normal(length * 9, 4);
        scan.h0 = normal(45, 5), scan.dy = normal(length * 5, 6);
        scan.A_log = A_log;
        const double worst = worst_gradient(scan);
        QVERIFY2(worst <= 1e-5, qPrintable(QString("%1 at T=%2, A_log=%3").arg(worst).arg(length).arg(A_log)));
      }
    }
  }

  // What follows the last token that matters changes no gradient before it, whatever chunk it falls in.
  void a_tail_without_a_loss_changes_nothing() {
    constexpr std::int64_t longest = 120;
    DecayedScan whole{.length = longest, .headdim = 3, .d_state = 4};
    whole.raw = normal(longest, 1), whole.x = normal(longest * 3, 2), whole.B = normal(longest * 4, 3);
    whole.C = normal(longest * 4, 4), whole.h0 = normal(12, 5);
    whole.dt_bias = -1, whole.A_log = 1;
    const auto loss = normal(longest * 3, 6);
    for (const std::int64_t length : {1, 9, 10, 11, 100, 119}) {
      auto head = whole;
      head.length = length;
      whole.dy = loss;
      std::fill(whole.dy.begin() + length * 3, whole.dy.end(), 0.0f);
      head.raw.resize(size(length)), head.x.resize(size(length * 3)), head.B.resize(size(length * 4));
      head.C.resize(size(length * 4)), head.dy.assign(loss.begin(), loss.begin() + length * 3);
      const auto g = whole.fast(), of_head = head.fast();
      for (const auto& [longer, shorter] : {std::pair{&g.raw, &of_head.raw}, std::pair{&g.x, &of_head.x},
                                            std::pair{&g.B, &of_head.B}, std::pair{&g.h0, &of_head.h0}}) {
        const Doubles expected(shorter->begin(), shorter->end());
        QVERIFY(off_by(Floats(longer->begin(), longer->begin() + static_cast<std::ptrdiff_t>(shorter->size())),
                       expected) <= 1e-6);
      }
      for (std::size_t t = size(length); t < g.raw.size(); ++t) {
        QCOMPARE(g.raw[t], 0.0f);
        QCOMPARE(g.x[3 * t], 0.0f);
      }
    }
  }

  // Other implementations switch to x above 20; ours has no switch, and its slope is the sigmoid all along.
  void softplus_has_no_step() {
    Floats raw;
    for (float x = -100; x <= 100; x += 0.01f) raw.push_back(x);
    for (float x = 19.9f; x < 20.1f; x = std::nextafter(x, 100.0f)) raw.push_back(x);
    std::ranges::sort(raw);
    const auto length = static_cast<std::int64_t>(raw.size());
    Floats dt(raw.size()), a(raw.size()), slope(raw.size()), ones(raw.size(), 1), none(raw.size());
    float bias = 0, dbias = 0;
    Scratch scratch;
    decay(length, 1, {raw.data(), 1}, &bias, nullptr, dt.data(), a.data());
    decay_backward(length, 1, {raw.data(), 1}, &bias, nullptr, dt.data(), a.data(), ones.data(), none.data(),
                   {slope.data(), 1}, &dbias, nullptr, scratch);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const double x = static_cast<double>(raw[i]);
      const double value = std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))), sigmoid = 1 / (1 + std::exp(-x));
      QVERIFY(std::abs(static_cast<double>(dt[i]) - value) <= 2e-7 * value + 1e-38);
      QVERIFY(std::abs(static_cast<double>(slope[i]) - sigmoid) <= 2e-7 * sigmoid + 1e-37);
      const double rounding = 2e-7;
      if (i > 0) {
        QVERIFY(static_cast<double>(dt[i]) >= static_cast<double>(dt[i - 1]) * (1 - rounding));
        const double step = x - static_cast<double>(raw[i - 1]);
        QVERIFY(static_cast<double>(dt[i]) - static_cast<double>(dt[i - 1]) <= step + rounding * value + 1e-38);
      }
    }
  }

  void decays_lie_between_zero_and_one() {
    const auto raw = normal(4000, 1);
    for (const float spread : {1.0f, 100.0f, 1e30f}) {
      for (const float A_log : {-80.0f, -3.0f, 0.0f, 3.0f, 80.0f}) {
        Floats wide(raw), dt(4000), a(4000);
        for (float& number : wide) number *= spread;
        const float bias = -4;
        decay(4000, 1, {wide.data(), 1}, &bias, &A_log, dt.data(), a.data());
        QVERIFY(std::ranges::all_of(a, [](float one) { return one >= 0 && one <= 1; }));
        QVERIFY(std::ranges::all_of(dt, [](float one) { return one >= 0; }));
      }
    }
  }

  // Offsets beyond 2^31 numbers: the same bits as from rows that lie next to each other.
  void offsets_need_64_bits() {
    constexpr std::int64_t length = FarRows::length, width = 21, states = 6;
    FarRows far[8];
    for (const FarRows& reserved : far) {
      if (!reserved) QSKIP("this machine gives no address space for it");
    }
    auto x = normal(length * width, 1), z = normal(length * width, 2), B = normal(length * states, 3),
         C = normal(length * states, 4), dy = normal(length * width, 5);
    auto dt = normal(length * width, 6);
    for (float& number : dt) number = std::abs(number) * 0.1f;
    Floats a(size(length), 0.9f), y(x.size()), dx(x.size()), ddt(x.size()), dB(B.size()), dC(C.size());
    const auto A = [&] {
      auto numbers = normal(width * states, 7);
      for (float& number : numbers) number = -std::abs(number);
      return numbers;
    }();

    const DiagonalScanShape diagonal{1, length, width, states};
    const auto near_in = DiagonalScanInputs<float>{rows(x, length, width), rows(dt, length, width),
                                                   rows(B, length, states), rows(C, length, states), A.data()};
    const auto far_in =
        DiagonalScanInputs<float>{far[0].batch(), far[1].batch(), far[2].batch(), far[3].batch(), A.data()};
    far[0].put(x), far[1].put(dt), far[2].put(B), far[3].put(C), far[4].put(dy);
    diagonal_scan(diagonal, near_in, rows(y, length, width), nullptr, nullptr, 1);
    diagonal_scan(diagonal, far_in, far[5].batch(), nullptr, nullptr, 1);
    QCOMPARE(far[5].get(width), y);
    const auto near_to = DiagonalScanGradients<float>{rows(dx, length, width), rows(ddt, length, width),
                                                      rows(dB, length, states), rows(dC, length, states)};
    diagonal_scan_backward(diagonal, near_in, nullptr, rows(dy, length, width), nullptr, near_to, 1);
    DiagonalScanGradients<float> far_to;
    far_to.x = far[5].batch(), far_to.dt = far[6].batch(), far_to.B = far[7].batch();
    diagonal_scan_backward(diagonal, far_in, nullptr, far[4].batch(), nullptr, far_to, 1);
    QCOMPARE(far[5].get(width), dx);
    QCOMPARE(far[6].get(width), ddt);
    QCOMPARE(far[7].get(states), dB);

    const ScanShape shape{1, length, 1, width, states};
    Floats one_dt(size(length), 0.3f), da(size(length));
    far[1].put(a), far[6].put(one_dt);
    const ScanInputs<float> scan_near{rows(x, length, width), rows(one_dt, length, 1), rows(a, length, 1),
                                      rows(B, length, states), rows(C, length, states)};
    const ScanInputs<float> scan_far{far[0].batch(), far[6].batch(), far[1].batch(), far[2].batch(), far[3].batch()};
    selective_scan(shape, scan_near, rows(y, length, width), nullptr, 1);
    selective_scan(shape, scan_far, far[5].batch(), nullptr, 1);
    QCOMPARE(far[5].get(width), y);
    ScanGradients<float> to, to_far;
    to.x = rows(dx, length, width), to.a = rows(da, length, 1), to.B = rows(dB, length, states);
    to_far.x = far[5].batch(), to_far.a = far[7].batch();
    selective_scan_backward(shape, scan_near, rows(dy, length, width), nullptr, to, 1);
    selective_scan_backward(shape, scan_far, far[4].batch(), nullptr, to_far, 1);
    QCOMPARE(far[5].get(width), dx);
    QCOMPARE(far[7].get(1), da);

    const Strided<float> near_x{x.data(), width}, near_z{z.data(), width}, near_y{y.data(), width};
    const auto taps = normal(3 * width, 8), bias = normal(width, 9);
    const ConvolutionShape convolution{.length = length, .channels = width, .window = 3};
    causal_convolution(convolution, near_x, taps.data(), bias.data(), Activation::silu, near_y, {});
    causal_convolution(convolution, far[0].view(), taps.data(), bias.data(), Activation::silu, far[5].view(), {});
    QCOMPARE(far[5].get(width), y);

    far[1].put(z);
    gated_activation(length, width, near_x, near_z, Activation::silu, near_y);
    gated_activation(length, width, far[0].view(), far[1].view(), Activation::silu, far[5].view());
    QCOMPARE(far[5].get(width), y);
    layer_norm(length, width, near_x, bias.data(), near_y);
    layer_norm(length, width, far[0].view(), bias.data(), far[5].view());
    QCOMPARE(far[5].get(width), y);
    rms_norm({.length = length, .width = width, .groups = 3}, near_x, near_z, bias.data(), near_y);
    rms_norm({.length = length, .width = width, .groups = 3}, far[0].view(), far[1].view(), bias.data(), far[5].view());
    QCOMPARE(far[5].get(width), y);

    const std::int64_t targets[length] = {3, 0, 20, 7};
    const SoftmaxShape softmax{.rows = length, .vocabulary = width, .width = width};
    QCOMPARE(softmax_cross_entropy(softmax, far[0].view(), targets, far[5].view(), 1),
             softmax_cross_entropy(softmax, near_x, targets, near_y, 1));
    QCOMPARE(far[5].get(width), y);
  }

  // Scratch grows with T, not faster, and stays below a small multiple of the inputs.
  void memory_is_linear_in_length() {
    const auto peak = [](std::int64_t length, bool diagonal) {
      constexpr std::int64_t width = 64, states = 16;
      Floats x(size(length * width), 0.5f), dt(x), B(size(length * states), 0.1f), C(B), a(size(length), 0.9f), da(a);
      Floats dx(x), ddt(x), dB(B), dC(C), A(size(width * states), -1.0f), dA(A);
      return peak_of([&] {
        if (diagonal) {
          const DiagonalScanShape shape{1, length, width, states};
          diagonal_scan_backward(shape,
                                 {rows(x, length, width), rows(dt, length, width), rows(B, length, states),
                                  rows(C, length, states), A.data()},
                                 nullptr, rows(x, length, width), nullptr,
                                 {rows(dx, length, width), rows(ddt, length, width), rows(dB, length, states),
                                  rows(dC, length, states), dA.data()},
                                 1);
        } else {
          const ScanShape shape{1, length, 1, width, states};
          selective_scan_backward(shape,
                                  {rows(x, length, width), rows(a, length, 1), rows(a, length, 1),
                                   rows(B, length, states), rows(C, length, states)},
                                  rows(x, length, width), nullptr,
                                  {rows(dx, length, width), rows(da, length, 1), rows(da, length, 1),
                                   rows(dB, length, states), rows(dC, length, states)},
                                  1);
        }
      });
    };
    for (const bool diagonal : {false, true}) {
      constexpr std::int64_t length = 1 << 17, inputs = length * (2 * 64 + 2 * 16) * 4;
      const std::int64_t at_one = peak(length, diagonal), at_two = peak(2 * length, diagonal);
      QVERIFY(at_one > 0);
      const auto mebibytes = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
      qInfo("%s: %.1f and %.1f MiB beside inputs of %.1f MiB", diagonal ? "diagonal" : "selective", mebibytes(at_one),
            mebibytes(at_two), mebibytes(inputs));
      QVERIFY(at_two <= 2 * at_one);
      QVERIFY(at_one <= 2 * inputs);
    }
  }

  void the_page_names_tests_that_exist() {
    const auto text_of = [](const QString& path) {
      QFile file(QString(MAMBARIUM_SOURCE_DIR) + "/" + path);
      return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    };
    const QRegularExpression reference("`([\\w/]+\\.cpp)::(\\w+)`");
    auto found = reference.globalMatch(text_of("docs/known-pitfalls.md"));
    QVERIFY(found.hasNext());
    while (found.hasNext()) {
      const auto match = found.next();
      QVERIFY2(text_of("tests/" + match.captured(1)).contains("  void " + match.captured(2) + "()"),
               qPrintable(match.captured()));
    }
  }

  void every_d_state_and_width() {
    for (const std::int64_t states : {8, 9, 12, 33, 100, 127, 128}) {
      for (const std::int64_t width : {1, 2, 3, 5, 19}) {
        DecayedScan scan{.length = 50, .headdim = width, .d_state = states};
        scan.raw = normal(50, 1), scan.x = normal(50 * width, 2), scan.B = normal(50 * states, 3);
        scan.C = normal(50 * states, 4), scan.h0 = normal(width * states, 5), scan.dy = normal(50 * width, 6);
        const double worst = worst_gradient(scan);
        QVERIFY2(worst <= 1e-5, qPrintable(QString("%1 at N=%2, P=%3").arg(worst).arg(states).arg(width)));
      }
    }
  }
};

QTEST_APPLESS_MAIN(TestKernelPitfalls)
#include "test_kernel_pitfalls.moc"
