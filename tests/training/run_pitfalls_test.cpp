// What other implementations have got wrong about runs (docs/known-pitfalls.md): seeds, weight decay, loading, threads.
#include <torch/torch.h>

#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <set>

#include "core/models/parameter.h"
#include "core/tasks/markov_task.h"
#include "core/training/adamw.h"
#include "core/training/checkpoint.h"
#include "core/training/safetensors.h"
#include "tests/training/run_fixtures.h"

using namespace mambarium;
namespace fs = std::filesystem;

namespace {

ExperimentConfig with(ExperimentConfig config, const char* key, const PropertyValue& value) {
  if (config.set(key, value)) throw std::invalid_argument(key);
  return config;
}

// A model with every kind of parameter: several heads, the D skip, two layers.
ExperimentConfig every_part() {
  auto config = with(small_experiment(), "model.skip", true);
  config = with(config, "model.headdim", std::int64_t{1});
  return with(config, "model.layers", std::int64_t{2});
}

void check_decay_parameters(SequenceModel& model) {
  const torch::NoGradGuard no_gradients;
  std::int64_t seen = 0;
  for (const Parameter& parameter : model.parameters()) {
    if (parameter.name.ends_with("dt_bias")) {
      const auto dt = torch::softplus(parameter.tensor);
      constexpr double rounding = 1e-6;
      QVERIFY(dt.min().item<double>() >= 1e-3 * (1 - rounding) && dt.max().item<double>() <= 0.1 * (1 + rounding));
      ++seen;
    }
    if (parameter.name.ends_with("A_log")) {
      const auto A = torch::exp(parameter.tensor);
      QVERIFY(A.min().item<double>() >= 1 - 1e-6 && A.max().item<double>() <= 16 + 1e-5);
      ++seen;
    }
  }
  QCOMPARE(seen, 4);
}

}  // namespace

class RunPitfallsTest : public QObject {
  Q_OBJECT
  QTemporaryDir root_;

  fs::path at(const char* name) const { return fs::path(root_.path().toStdString()) / name; }

 private Q_SLOTS:
  // Gradients of zero: linear weights shrink by exactly the decay, everything else keeps its bits.
  void weightDecayTouchesLinearWeightsAlone() {
    const auto model = make_model(every_part());
    std::vector<std::vector<float>> before;
    std::vector<std::size_t> sizes;
    for (Parameter& parameter : model->parameters()) {
      const float* data = parameter.tensor.data_ptr<float>();
      before.emplace_back(data, data + parameter.tensor.numel());
      sizes.push_back(before.back().size());
    }
    AdamW optimiser({.weight_decay = 0.5}, sizes);
    const std::vector<float> zeros(10'000);
    for (int step = 1; step <= 3; ++step) {
      std::vector<OptimisedBuffer> buffers;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        Parameter& parameter = model->parameters()[i];
        buffers.push_back(
            {{parameter.tensor.data_ptr<float>(), sizes[i]}, {zeros.data(), sizes[i]}, parameter.decayed});
      }
      optimiser.step(buffers, step, 0.1, 1.0);
    }
    std::set<std::string> kept;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Parameter& parameter = model->parameters()[i];
      const float* now = parameter.tensor.data_ptr<float>();
      if (std::equal(before[i].begin(), before[i].end(), now)) {
        kept.insert(parameter.name);
      } else {
        QVERIFY(std::abs(static_cast<double>(now[0]) - std::pow(0.95, 3) * static_cast<double>(before[i][0])) < 1e-6);
      }
    }
    std::set<std::string> expected = {"embedding.weight", "final_norm.weight"};
    for (const std::string layer : {"layers.0.", "layers.1."}) {
      for (const char* part : {"A_log", "D", "dt_bias", "norm.weight", "y_norm.weight", "mlp_norm.weight"}) {
        expected.insert(layer + part);
      }
      for (const char* part : {"x", "B", "C"}) {
        expected.insert(layer + "conv." + part + ".weight");
        expected.insert(layer + "conv." + part + ".bias");
      }
    }
    QVERIFY(kept == expected);
  }

  void decayParametersStartInTheirRangesAndAreLoadedAsTheyWere() {
    auto config = every_part();
    { Trainer::create(config, {.folder = at("source")}); }
    const auto other = make_model(with(config, "training.seed", std::int64_t{9}));
    check_decay_parameters(*other);
    load_checkpoint(*other, checkpoint_path(at("source"), 0));
    check_decay_parameters(*other);

    std::vector<std::size_t> sizes;
    for (const Parameter& parameter : other->parameters()) {
      sizes.push_back(static_cast<std::size_t>(parameter.tensor.numel()));
    }
    AdamW optimiser({}, sizes);
    fs::create_directories(at("copy") / "checkpoints");
    write_checkpoint_files(at("copy"), config, *other, optimiser, {});
    QCOMPARE(text_of(checkpoint_path(at("copy"), 0)), text_of(checkpoint_path(at("source"), 0)));
  }

  void checkpointsHoldFloat32() {
    { Trainer::create(every_part(), {.folder = at("types")}); }
    const auto file = SafetensorsFile::read(checkpoint_path(at("types"), 0));
    QVERIFY(file.tensors().contains("layers.1.A_log"));
    for (const auto& [name, entry] : file.tensors()) QVERIFY2(entry.dtype == "F32", name.c_str());
  }

  // As one call, block by block, and with LibTorch's BLAS.
  void threadsDoNotChangeARun_data() {
    QTest::addColumn<qlonglong>("d_model");
    QTest::addColumn<qlonglong>("batch");
    QTest::addColumn<qlonglong>("steps");
    QTest::newRow("narrow") << 8LL << 24LL << 100LL;
    QTest::newRow("few sequences") << 40LL << 3LL << 10LL;
    QTest::newRow("wide") << 96LL << 40LL << 4LL;
  }
  void threadsDoNotChangeARun() {
    QFETCH(qlonglong, d_model);
    QFETCH(qlonglong, batch);
    QFETCH(qlonglong, steps);
    std::vector<std::string> metrics;
    for (const std::int64_t threads : {1, 2}) {
      auto config = with(with(every_part(), "run.threads", threads), "training.batch", std::int64_t{batch});
      config = with(config, "model.d_model", std::int64_t{d_model});
      const auto trainer = Trainer::create(config);
      advance_to(*trainer, steps);
      std::string rows = std::to_string(trainer->last_train_loss()) + "\n";
      for (MetricsRow row : trainer->rows()) {
        row.seconds = 0;
        rows += to_csv_line(row) + "\n";
      }
      for (const Parameter& parameter : trainer->model().parameters()) {
        rows += std::to_string(parameter.tensor.sum().item<double>()) + " ";
      }
      metrics.push_back(rows);
    }
    QCOMPARE(metrics[1], metrics[0]);
  }

  void aSeedFixesChainDataAndWeights() {
    const auto everything = [](std::int64_t seed) {
      const auto config = with(small_experiment(), "training.seed", seed);
      const auto trainer = Trainer::create(config);
      std::vector<double> numbers;
      for (const Parameter& parameter : trainer->model().parameters()) {
        numbers.push_back(parameter.tensor.abs().sum().item<double>());
      }
      trainer->advance();
      numbers.push_back(trainer->last_train_loss());
      numbers.push_back(trainer->rows()[0].oracle_loss);
      SequenceBatch batch;
      MarkovTask(1, 2, 1.0, 32).generate(Stream(static_cast<std::uint64_t>(seed), "data"), 0, 3, true, batch);
      numbers.insert(numbers.end(), batch.tokens.begin(), batch.tokens.end());
      numbers.insert(numbers.end(), batch.kernels.begin(), batch.kernels.end());
      return numbers;
    };
    const auto first = everything(5);
    QCOMPARE(everything(5), first);
    const auto other = everything(6);
    QVERIFY(other.front() != first.front() && other.back() != first.back());
    const auto parameters = make_model(small_experiment())->parameters().size();
    QVERIFY(other[parameters] != first[parameters] && other[parameters + 1] != first[parameters + 1]);
  }

  void theScheduleMayBeOff() {
    const auto trainer = Trainer::create(with(small_experiment(), "training.schedule", std::string("constant")));
    advance_to(*trainer, 50);
    QCOMPARE(trainer->rows()[1].learning_rate, 0.002);
    QVERIFY(std::isfinite(trainer->rows()[1].test_loss));
  }

  // At the highest learning rate of the paper's schedule all along.
  void tenThousandStepsStayFinite() {
    auto config = with(small_experiment(), "training.schedule", std::string("constant"));
    for (const char* key : {"training.steps", "training.eval_every", "training.checkpoint_every"}) {
      config = with(config, key, std::int64_t{10'000});
    }
    const auto trainer = Trainer::create(config);
    while (!trainer->finished()) {
      trainer->advance();
      QVERIFY(std::isfinite(trainer->last_train_loss()));
    }
    for (const Parameter& parameter : trainer->model().parameters()) {
      QVERIFY2(parameter.tensor.isfinite().all().item<bool>(), parameter.name.c_str());
    }
    QVERIFY(trainer->rows().back().test_loss < trainer->rows().front().test_loss);
  }
};

QTEST_APPLESS_MAIN(RunPitfallsTest)
#include "run_pitfalls_test.moc"
