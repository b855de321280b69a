// Steps that are taken elsewhere, with weights and moments of their own: the stages of gpu/ on the CPU in a GPU's
// place.
#include "core/training/training_step.h"

#include <torch/torch.h>

#include <QTemporaryDir>
#include <QTest>

#include "core/contract/run_folder.h"
#include "core/device/gpu.h"
#include "core/models/parameter.h"
#include "core/training/flat_model.h"
#include "tests/gpu/on_the_cpu.h"
#include "tests/training/run_fixtures.h"

using namespace mambarium;
namespace fs = std::filesystem;

namespace {

ExperimentConfig fast_experiment() {
  ExperimentConfig config = small_experiment();
  config.set("training.lr", 0.02);
  return config;
}

std::vector<float> numbers(const at::Tensor& tensor) {
  const float* const data = tensor.data_ptr<float>();
  return {data, data + tensor.numel()};
}

double largest_difference(SequenceModel& one, SequenceModel& other) {
  double largest = 0;
  for (std::size_t i = 0; i < one.parameters().size(); ++i) {
    const auto difference = one.parameters()[i].tensor - other.parameters()[i].tensor;
    largest = std::max(largest, difference.abs().max().item<double>());
  }
  return largest;
}

}  // namespace

class TrainingStepTest : public QObject {
  Q_OBJECT
  QTemporaryDir root_;

  fs::path at(const char* name) const { return fs::path(root_.path().toStdString()) / name; }

  std::unique_ptr<Trainer> elsewhere(const char* name, const ExperimentConfig& config = fast_experiment()) const {
    return Trainer::create(config, {.folder = at(name), .make_step = gpu::make_stage_step});
  }

 private Q_SLOTS:
  void flatAndBack_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::newRow("everything") << QStringList{"model.skip=on", "model.layers=2", "model.headdim=4"};
    QTest::newRow("bare") << QStringList{"model.kind=mamba_zero", "model.conv=x,C"};
    QTest::newRow("no convolution") << QStringList{"model.conv=none"};
    QTest::newRow("plain MLP") << QStringList{"model.mlp=plain", "model.gate=off", "model.decay=one"};
  }
  void flatAndBack() {
    QFETCH(QStringList, settings);
    ExperimentConfig config;
    for (const QString& setting : settings) {
      const auto pair = setting.split('=');
      const auto problem = config.set_from_string(pair[0].toStdString(), pair[1].toStdString());
      QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
    }
    const auto model = make_model(config);
    std::vector<std::size_t> sizes;
    for (const Parameter& parameter : model->parameters()) {
      sizes.push_back(static_cast<std::size_t>(parameter.tensor.numel()));
    }
    AdamW optimiser({}, sizes);
    float next = 0;
    std::vector<std::vector<float>> expected;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (float& number : optimiser.first_moment(i)) number = ++next;
      for (float& number : optimiser.second_moment(i)) number = ++next;
      expected.push_back(numbers(model->parameters()[i].tensor));
    }
    FlatModel flat(*model, optimiser, 2, 5);
    FlatNumbers packed = flat.pack();
    std::int64_t of_parameters = 0;
    for (const auto role : flat.roles()) of_parameters += role != kernels::ParameterRole::fixed;
    QCOMPARE(of_parameters, model->parameter_count());
    for (auto* of : {&packed.weights, &packed.first_moment, &packed.second_moment}) {
      for (float& number : *of) number *= 2;
    }
    packed.gradient = packed.first_moment;
    for (float& number : packed.gradient) number = -number;
    flat.unpack(packed);
    next = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Parameter& parameter = model->parameters()[i];
      const auto weights = numbers(parameter.tensor), gradient = numbers(parameter.tensor.grad());
      for (std::size_t j = 0; j < sizes[i]; ++j) {
        QCOMPARE(weights[j], 2 * expected[i][j]);
        QCOMPARE(optimiser.first_moment(i)[j], 2 * ++next);
        QCOMPARE(gradient[j], -2 * next);
      }
      for (const float number : optimiser.second_moment(i)) QCOMPARE(number, 2 * ++next);
    }
  }

  // Float32 on both sides: rounding grows over 200 steps of a rate at which the loss falls by a tenth of a nat.
  void aRunElsewhereIsTheRunHere() {
    const auto here = Trainer::create(fast_experiment(), {.folder = at("here")});
    const auto there = elsewhere("there");
    advance_to(*here, 7);
    advance_to(*there, 7);
    QVERIFY(largest_difference(here->model(), there->model()) < 1e-4);
    advance_to(*here, 200);
    advance_to(*there, 200);
    QCOMPARE(there->rows()[0].test_loss, here->rows()[0].test_loss);
    QVERIFY(here->rows().front().test_loss - here->rows().back().test_loss > 0.02);
    for (std::size_t row = 1; row < here->rows().size(); ++row) {
      QVERIFY(std::abs(there->rows()[row].test_loss - here->rows()[row].test_loss) < 2e-4);
      QVERIFY(std::abs(there->rows()[row].train_loss - here->rows()[row].train_loss) < 2e-4);
    }
    QCOMPARE(read_run_folder(at("there")).run.manifest.device, std::string("stages"));
    QCOMPARE(read_run_folder(at("here")).run.manifest.device, std::string("cpu"));
  }

  void aRunElsewhereGoesOnWhereItStopped() {
    {
      const auto trainer = elsewhere("stopped");
      advance_to(*trainer, 90);
      trainer->write_checkpoint();
    }
    {
      const auto trainer = Trainer::resume(at("stopped"), gpu::make_stage_step);
      QCOMPARE(trainer->step(), 90);
      advance_to(*trainer, 200);
    }
    advance_to(*elsewhere("at once"), 200);
    QCOMPARE(metrics_without_seconds(at("stopped")), metrics_without_seconds(at("at once")));
    for (const std::int64_t step : {0, 60, 120, 200}) {
      QCOMPARE(text_of(checkpoint_path(at("stopped"), step)), text_of(checkpoint_path(at("at once"), step)));
      QCOMPARE(text_of(state_path(at("stopped"), step)), text_of(state_path(at("at once"), step)));
    }
  }

  void aRunElsewhereThatDivergesNamesTheParameter() {
    ExperimentConfig config = small_experiment();
    config.set("model.norm", std::string("none"));
    config.set("model.activation", std::string("none"));
    config.set("model.layers", std::int64_t{3});
    config.set("training.lr", 10.0);
    config.set("training.schedule", std::string("constant"));
    const auto here = Trainer::create(config);
    const auto there = elsewhere("diverging", config);
    const QString expected = refusal([&] { advance_to(*here, 200); });
    const QString said = refusal([&] { advance_to(*there, 200); });
    QVERIFY2(expected.contains("diverged at step") && expected.contains("parameter"), qPrintable(expected));
    QCOMPARE(said, expected);
  }

  void devicesAreChosen() {
    ExperimentConfig config = small_experiment();
    config.set("run.device", std::string("auto"));
    const GpuSupport gpu = gpu_support();
    Trainer::create(config, {.folder = at("auto")});
    const std::string device = read_run_folder(at("auto")).run.manifest.device;
    QCOMPARE(device, gpu.usable() ? "cuda: " + gpu.name : std::string("cpu"));
    const auto torch_engine = Trainer::create(config, {.engine = Engine::torch, .folder = at("torch")});
    QCOMPARE(read_run_folder(at("torch")).run.manifest.device, std::string("cpu"));
    config.set("run.device", std::string("cuda"));
    const auto create = [&](Engine engine) { Trainer::create(config, {.engine = engine, .folder = {}}); };
    QVERIFY(refusal([&] { create(Engine::torch); }).contains("run.device: the torch engine computes on the CPU"));
    const QString said = refusal([&] { create(Engine::fused); });
    QCOMPARE(said.isEmpty(), gpu.usable());
    QVERIFY2(gpu.usable() || said.contains(("cuda is " + gpu.words).c_str()), qPrintable(said));
  }
};

QTEST_APPLESS_MAIN(TrainingStepTest)
#include "training_step_test.moc"
