// The kernels on a GPU against the references that the stages are held against on the CPU. Where no GPU can be used
// there is nothing to run them on: what is tested then is that the program says so, in one sentence.
#include <QTest>

#include "gpu/causal_convolution.h"
#include "gpu/gpu_device.h"
#include "gpu/selective_scan.h"
#include "gpu/training_step.h"
#include "tests/gpu/convolution_cases.h"
#include "tests/gpu/model_fixture.h"
#include "tests/gpu/scan_cases.h"

using namespace mambarium;
using namespace mambarium::gpu;
using kernels::ScanShape;

namespace {

// A table and its copy on the GPU, which is copied back on demand.
class Mirror {
 public:
  explicit Mirror(Table<float>& table) : table_(table), buffer_(std::span<const float>(table.numbers)) {}
  kernels::Rows<float> rows() const {
    const auto host = table_.rows();
    return {buffer_.data(), host.sequence_stride, host.row_stride};
  }
  BatchIn in() const { return rows(); }
  float* data() const { return buffer_.data(); }
  void fetch() { table_.numbers = buffer_.download(); }

 private:
  Table<float>& table_;
  DeviceBuffer<float> buffer_;
};

void wait() {
  check(cudaDeviceSynchronize(), "finish the test's kernels");
}

void on_the_gpu(ScanCase& s) {
  const Mirror x(s.x), dt(s.dt), a(s.a), B(s.B), C(s.C), A(s.A), h0(s.h0), dy(s.dy), dh(s.dh);
  Mirror y(s.y), h(s.h), dx(s.dx), ddt(s.ddt), da(s.da), dB(s.dB), dC(s.dC), dA(s.dA), dh0(s.dh0);
  const auto both = [&](const auto& inputs, const auto& gradients) {
    selective_scan(s.shape, inputs, y.rows(), h.data(), nullptr);
    const auto size = plan_scan_backward(plan_scan(s.shape, inputs), dy.in(), dh.data(), gradients, nullptr).workspace;
    const DeviceBuffer<float> workspace(static_cast<std::size_t>(size));
    selective_scan_backward(s.shape, inputs, dy.in(), dh.data(), gradients, workspace.data(), nullptr);
    wait();
  };
  if (s.diagonal) {
    both(DiagonalScanInputs{x.in(), dt.in(), B.in(), C.in(), A.data(), h0.data()},
         DiagonalScanGradients{dx.rows(), ddt.rows(), dB.rows(), dC.rows(), dA.data(), dh0.data()});
  } else {
    both(kernels::ScanInputs<float>{x.in(), dt.in(), a.in(), B.in(), C.in(), h0.data()},
         kernels::ScanGradients<float>{dx.rows(), ddt.rows(), da.rows(), dB.rows(), dC.rows(), dh0.data()});
  }
  for (Mirror* of : {&y, &h, &dx, &ddt, &da, &dB, &dC, &dA, &dh0}) of->fetch();
}

void on_the_gpu(ConvolutionCase& c) {
  const Mirror in(c.in), taps(c.taps), bias(c.bias), dout(c.dout);
  Mirror out(c.out), din(c.din), dtaps(c.dtaps), dbias(c.dbias);
  const auto job = plan_convolution(c.batch, c.shape, in.in(), taps.data(), bias.data(), c.activation);
  const DeviceBuffer<float> workspace(
      static_cast<std::size_t>(plan_convolution_backward(job, nullptr, nullptr, nullptr).workspace));
  causal_convolution(job, out.rows(), nullptr);
  causal_convolution_backward(job, dout.in(), din.rows(), dtaps.data(), dbias.data(), workspace.data(), nullptr);
  wait();
  for (Mirror* of : {&out, &din, &dtaps, &dbias}) of->fetch();
}

struct Step {
  double loss = 0, loss_alone = 0, norm = 0;
  std::vector<float> gradient, weights;  // weights after an update
};

Step on_the_gpu(const ModelFixture& model, const AdamWStep& adamw) {
  const auto layout = model.layout();
  const auto roles = kernels::parameter_roles(model.shape, layout, model.weights);
  TrainingStep step(model.shape, layout, roles);
  const auto count = static_cast<std::size_t>(layout.count);
  const DeviceBuffer<float> weights{std::span<const float>(model.flat_weights())}, gradient(count);
  const DeviceBuffer<float> first{std::span<const float>(std::vector<float>(count))};
  const DeviceBuffer<float> second{std::span<const float>(std::vector<float>(count))};
  const DeviceBuffer<std::int64_t> tokens{std::span(model.tokens)}, targets{std::span(model.targets)};
  const DeviceBuffer<StepResult> results(2);
  step.loss(weights.data(), tokens.data(), targets.data(), results.data(), nullptr);
  step.gradient(weights.data(), tokens.data(), targets.data(), gradient.data(), results.data() + 1, nullptr);
  step.update(adamw, gradient.data(), weights.data(), first.data(), second.data(), nullptr);
  wait();
  const auto of = results.download();
  return {of[1].loss, of[0].loss, of[1].gradient_norm, gradient.download(), weights.download()};
}

std::int64_t choose(std::mt19937_64& generator, std::initializer_list<std::int64_t> choices) {
  return choices.begin()[generator() % choices.size()];
}

}  // namespace

class KernelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void scans_data() {
    QTest::addColumn<bool>("diagonal");
    QTest::newRow("Mamba-2") << false;
    QTest::newRow("Mamba-1") << true;
  }
  void scans() {
    QFETCH(bool, diagonal);
    std::mt19937_64 generator(1);
    double largest = 0;
    std::string complaint;
    for (const std::int64_t length : {1, 2, 3, 7, 31, 64, 101, 257, 600}) {
      for (int repetition = 0; repetition < 6; ++repetition) {
        const ScanShape shape{.batch = choose(generator, {1, 2, 3}),
                              .length = length,
                              .heads = diagonal ? 1 : choose(generator, {1, 1, 2, 3}),
                              .headdim = choose(generator, {1, 2, 5, 8, 16, 40, 128}),
                              .d_state = choose(generator, {1, 2, 5, 8, 16, 33, 128})};
        ScanCase scan(shape, diagonal, static_cast<Decays>(repetition % 3), choose(generator, {0, 1, 5}), generator());
        ScanCase again = scan;
        on_the_gpu(scan);
        on_the_gpu(again);
        QVERIFY2(scan_agrees(scan, largest, complaint), complaint.c_str());
        for (std::size_t i = 0; i < scan.outputs().size(); ++i) {
          QCOMPARE(again.outputs()[i].second->numbers, scan.outputs()[i].second->numbers);
        }
      }
    }
    qInfo("largest relative difference: %.2g", largest);
  }

  void convolutions() {
    std::mt19937_64 generator(2);
    double largest = 0;
    std::string complaint;
    for (int repetition = 0; repetition < 30; ++repetition) {
      const kernels::ConvolutionShape shape{.length = choose(generator, {1, 2, 17, 64, 65, 500}),
                                            .channels = choose(generator, {1, 3, 64, 70, 300}),
                                            .window = choose(generator, {1, 2, 4, 9})};
      const auto activation = repetition % 2 == 0 ? Activation::silu : Activation::relu;
      ConvolutionCase convolution(choose(generator, {1, 3}), shape, activation, 2, generator());
      on_the_gpu(convolution);
      QVERIFY2(convolution.agrees(largest, complaint), complaint.c_str());
    }
    qInfo("largest relative difference: %.2g", largest);
  }

  void training_steps() {
    std::mt19937_64 generator(3);
    const auto maybe = [&] { return generator() % 3 != 0; };
    double largest = 0;
    for (int repetition = 0; repetition < 40; ++repetition) {
      WholeModelShape shape;
      shape.mixer = {.batch = choose(generator, {1, 2, 5, 70}),
                     .length = choose(generator, {1, 2, 3, 7, 64, 101, 256}),
                     .d_model = choose(generator, {3, 5, 8, 12}),
                     .heads = choose(generator, {1, 1, 2, 3}),
                     .headdim = choose(generator, {1, 3, 8, 16}),
                     .d_state = choose(generator, {1, 3, 8, 11, 64}),
                     .d_conv = choose(generator, {1, 2, 3, 5})};
      shape.hidden = choose(generator, {0, 7, 32});
      shape.states = choose(generator, {2, 3, 6});
      shape.l1 = !maybe();
      Parts parts = some_parts(maybe);
      if (parts.norm) parts.blocks = static_cast<int>(choose(generator, {1, 1, 2, 3}));
      const ModelFixture model(shape, parts, generator());
      const auto adamw_now = adamw_step({.weight_decay = 0.1, .highest_norm = 1}, 1, 1e-2);
      const auto expected = model.expected();
      const Step found = on_the_gpu(model, adamw_now), again = on_the_gpu(model, adamw_now);
      const std::string what = description(shape, parts);
      std::string complaint;
      QVERIFY2(std::abs(found.loss - expected.loss) <= 2e-5 * std::max(expected.loss, 1.0), what.c_str());
      QCOMPARE(found.loss_alone, found.loss);
      QVERIFY2(gradients_agree(model, found.gradient, expected.gradients, largest, complaint),
               (complaint + ": " + what).c_str());
      QVERIFY(again.loss == found.loss && again.gradient == found.gradient && again.weights == found.weights);

      // The update, with the GPU's own gradient.
      double squares = 0;
      for (const float number : found.gradient) squares += static_cast<double>(number) * static_cast<double>(number);
      QVERIFY(std::abs(found.norm - std::sqrt(squares)) <= 1e-9 * found.norm);
      const auto roles = kernels::parameter_roles(shape, model.layout(), model.weights);
      auto weights = model.flat_weights();
      const float factor = clip_factor(found.norm, 1);
      for (std::size_t i = 0; i < weights.size(); ++i) {
        float first = 0, second = 0;
        adamw(adamw_now, roles[i], found.gradient[i] * factor, weights[i], first, second);
      }
      QVERIFY(relative_difference(as_doubles(found.weights), as_doubles(weights)) <= 1e-6);
    }
    qInfo("largest relative difference: %.2g", largest);
  }
};

class DeviceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Twice: what it finds does not depend on having been asked.
  void a_gpu_or_a_sentence() {
    const auto found = usable_gpu(), again = usable_gpu();
    QCOMPARE(again.index(), found.index());
    if (const auto* why_not = std::get_if<std::string>(&found)) {
      QCOMPARE(std::get<std::string>(again), *why_not);
      QVERIFY(!why_not->empty() && why_not->find('\n') == std::string::npos);
    } else {
      QVERIFY(std::get<Gpu>(found).major >= 8 && std::get<Gpu>(found).memory > 0);
    }
  }
  void errors_say_what_and_why() {
    check(cudaSuccess, "do nothing");
    try {
      check(cudaErrorMemoryAllocation, "take memory");
      QFAIL("an error passed");
    } catch (const GpuError& error) {
      QVERIFY(std::string(error.what()).starts_with("cannot take memory: "));
      QVERIFY(std::string(error.what()).ends_with("(cudaErrorMemoryAllocation)"));
    }
  }
  void empty_buffers_need_no_gpu() {
    const DeviceBuffer<float> empty;
    QVERIFY(empty.data() == nullptr && empty.download().empty());
  }
};

int main(int argc, char** argv) {
  DeviceTest device;
  int failed = QTest::qExec(&device, argc, argv);
  const auto found = usable_gpu();
  if (const auto* why_not = std::get_if<std::string>(&found)) {
    qInfo("The kernels are not run: %s.", why_not->c_str());
    return failed;
  }
  qInfo("The kernels are run on %s.", std::get<Gpu>(found).description().c_str());
  KernelTest kernels_of_it;
  failed += QTest::qExec(&kernels_of_it, argc, argv);
  return failed;
}
#include "device_test.moc"
