// Every kind of model as a decoder: counts, the blocks it shares with the model of tokens, the answer by hand,
// gradients, and what is refused.
#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/models/decoding_model.h"
#include "tests/models/model_helpers.h"

using namespace mambarium;

namespace {

constexpr std::int64_t bins = 7, channels = 5, d_model = 6;

ExperimentConfig decoder(const QString& settings, const char* answer = "direction") {
  ExperimentConfig config;
  const auto set = [&](const std::string& key, const std::string& value) {
    if (const auto problem = config.set_from_string(key, value)) throw std::logic_error(to_string(*problem));
  };
  set("task.kind", "decoding");
  set("task.answer", answer);
  set("task.window", std::to_string(bins));
  set("task.channels", std::to_string(channels));
  set("model.d_model", std::to_string(d_model));
  set("model.d_state", "4");
  for (const QString& setting : settings.split(';'))
    set(setting.section('=', 0, 0).toStdString(), setting.section('=', 1).toStdString());
  if (!config.validate().empty()) throw std::logic_error(to_string(config.validate()));
  return config;
}

ExperimentConfig of_tokens(const ExperimentConfig& decoder) {
  ExperimentConfig config = decoder;
  config.set("task.kind", std::string("markov"));
  config.set("task.length", bins);
  return config;
}

at::Tensor some_windows(std::int64_t batch, at::ScalarType type) {
  return torch::sin(torch::arange(batch * bins * channels, torch::kFloat64) * 0.77)
      .view({batch, bins, channels})
      .to(torch::kFloat32)
      .to(type);
}

// read_out of every bin [B, T, K], by hand but for the blocks. Models of tokens have the blocks' names, so they can be
// given the decoder's weights.
at::Tensor read_outs(SequenceModel& model, const ExperimentConfig& config, const at::Tensor& windows) {
  const auto blocks = make_model(of_tokens(config), Engine::torch, Precision::float64);
  const auto weights = named(model);
  for (Parameter& parameter : blocks->parameters())
    if (weights.contains(parameter.name)) parameter.tensor.copy_(weights.at(parameter.name));
  const auto map = [&](const at::Tensor& x, const std::string& name) {
    return torch::matmul(x, weights.at(name + ".weight").t()) + weights.at(name + ".bias");
  };
  const auto wide = map(windows, "encoder.0");
  const auto hidden = 0.5 * wide * (1 + torch::erf(wide / std::sqrt(2.0)));
  return map(blocks->rows(map(hidden, "encoder.1")), "read_out");
}

void kinds() {
  QTest::addColumn<QString>("settings");
  QTest::newRow("mamba1") << "model.kind=mamba1;model.skip=on";
  QTest::newRow("coupled") << "model.kind=mamba1;model.coupling=etd;model.motif=021U;model.coupling_scale=0.1";
  QTest::newRow("mamba2") << "model.kind=mamba2;model.layers=2;model.headdim=4";
  QTest::newRow("mamba_zero") << "model.kind=mamba_zero";
  QTest::newRow("transformer") << "model.kind=transformer;model.headdim=3";
  QTest::newRow("waves") << "model.kind=transformer;model.positions=sinusoidal;model.attention=linear";
  QTest::newRow("lstm") << "model.kind=lstm;model.layers=2";
  QTest::newRow("rwkv4") << "model.kind=rwkv4";
}

}  // namespace

class TestDecodingModel : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void itCountsEncoderBlocksAndReadOut_data() { kinds(); }
  void itCountsEncoderBlocksAndReadOut() {
    QFETCH(QString, settings);
    const ExperimentConfig config = decoder(settings);
    const auto model = make_model(config, Engine::torch);
    const auto whole = make_model(of_tokens(config), Engine::torch);
    std::int64_t blocks = 0;
    for (const Parameter& parameter : whole->parameters())
      if (!parameter.name.starts_with("embedding.") && !parameter.name.starts_with("lm_head."))
        blocks += parameter.tensor.numel();
    const std::int64_t d = d_model, answers = 8;
    QCOMPARE(model->parameter_count(), 2 * d * (channels + 1) + d * (2 * d + 1) + answers * (d + 1) + blocks);
    for (const Parameter& parameter : model->parameters())
      QVERIFY2(!parameter.name.starts_with("embedding") && !parameter.name.starts_with("lm_head"),
               parameter.name.c_str());
  }

  void itCountsAsPublishedDecodersDo() {
    ExperimentConfig config = decoder(
        "task.channels=96;task.window=30;model.kind=mamba1;model.d_model=64;model.d_state=64;model.d_conv=4;"
        "model.skip=on;model.norm=none");
    QCOMPARE(make_model(config)->parameter_count(), std::int64_t{72264});
    QVERIFY(!config.set_from_string("model.coupling", "euler"));
    QCOMPARE(make_model(config)->parameter_count(), std::int64_t{72264 + 257});
  }

  // The blocks alone, after the embedding and before the read-out, are the model of tokens.
  void theBlocksAreThoseOfTheModelOfTokens_data() { kinds(); }
  void theBlocksAreThoseOfTheModelOfTokens() {
    QFETCH(QString, settings);
    const torch::NoGradGuard no_gradients;
    for (const Engine engine : {Engine::torch, Engine::fused}) {
      const ExperimentConfig config = of_tokens(decoder(settings));
      const auto model = make_model(config, engine);
      enlarge(*model);
      const auto weights = named(*model);
      const auto tokens = some_tokens(3, bins, 2);
      const auto u = model->rows(torch::embedding(weights.at("embedding.weight"), tokens));
      const bool tied = !weights.contains("lm_head.weight");
      const auto logits = torch::linear(u, weights.at(tied ? "embedding.weight" : "lm_head.weight"),
                                        tied ? weights.at("lm_head.bias") : at::Tensor());
      const auto apart = (torch::log_softmax(logits, -1) - model->log_probabilities(tokens)).abs().max();
      QVERIFY2(apart.item<double>() < 1e-6, qPrintable(QString::number(apart.item<double>())));
    }
  }

  void itsClassesAreTheMeanReadOutOfItsBins_data() { kinds(); }
  void itsClassesAreTheMeanReadOutOfItsBins() {
    QFETCH(QString, settings);
    const torch::NoGradGuard no_gradients;
    const auto model = make_model(decoder(settings), Engine::torch, Precision::float64);
    enlarge(*model);
    const auto windows = some_windows(2, torch::kFloat64);
    const auto logits = read_outs(*model, decoder(settings), windows).mean(1);
    const auto expected = logits - logits.exp().sum(-1, true).log();
    const auto answer = model->log_probabilities(windows);
    QCOMPARE(answer.sizes(), (at::IntArrayRef{2, 8}));
    QVERIFY((answer - expected).abs().max().item<double>() < 1e-12);
    const auto labels = torch::tensor({std::int64_t{5}, std::int64_t{0}});
    const double loss = -(expected[0][5] + expected[1][0]).item<double>() / 2;
    QVERIFY(std::abs(model->loss(windows, labels).item<double>() - loss) < 1e-12);
  }

  void itsOutputsAreTheReadOutOfTheLastBin_data() { kinds(); }
  void itsOutputsAreTheReadOutOfTheLastBin() {
    QFETCH(QString, settings);
    const torch::NoGradGuard no_gradients;
    const ExperimentConfig config = decoder(settings, "outputs");
    const auto model = make_model(config, Engine::torch, Precision::float64);
    enlarge(*model);
    const auto windows = some_windows(2, torch::kFloat64);
    const auto all = read_outs(*model, config, windows), answer = model->log_probabilities(windows);
    QCOMPARE(answer.sizes(), (at::IntArrayRef{2, 4}));
    QVERIFY((answer - all.select(1, bins - 1)).abs().max().item<double>() < 1e-12);
    for (std::int64_t bin = 0; bin + 1 < bins; ++bin)
      QVERIFY((answer - all.select(1, bin)).abs().max().item<double>() > 1e-4);
    QVERIFY((answer - all.mean(1)).abs().max().item<double>() > 1e-4);
  }

  void gradientsAgreeWithDifferences_data() { kinds(); }
  void gradientsAgreeWithDifferences() {
    QFETCH(QString, settings);
    for (const char* answer : {"direction", "outputs"}) {
      const auto model = make_model(decoder(settings, answer), Engine::torch, Precision::float64);
      enlarge(*model);
      const auto wanted = std::string(answer) == "outputs" ? torch::sin(torch::arange(8, torch::kFloat64)).view({2, 4})
                                                           : torch::tensor({std::int64_t{3}, std::int64_t{7}});
      const double error = gradient_error(*model, some_windows(2, torch::kFloat64), wanted, 6);
      QVERIFY2(error < 1e-7, qPrintable(QString::number(error)));
    }
  }

  void bothEnginesAreTheSameFunction_data() { kinds(); }
  void bothEnginesAreTheSameFunction() {
    QFETCH(QString, settings);
    const torch::NoGradGuard no_gradients;
    const ExperimentConfig config = decoder(settings, "outputs");
    const auto fused = make_model(config, Engine::fused), reference = make_model(config, Engine::torch);
    enlarge(*fused);
    enlarge(*reference);
    const auto windows = some_windows(4, torch::kFloat32);
    const auto expected = reference->log_probabilities(windows);
    QVERIFY((fused->log_probabilities(windows) - expected).abs().max().item<double>() <
            2e-5 * expected.abs().max().item<double>());
    const auto outputs = torch::ones({4, 4});
    const double mean_square = (expected - 1).square().mean().item<double>();
    QVERIFY(std::abs(reference->loss(windows, outputs).item<double>() - mean_square) < 1e-6 * (1 + mean_square));
  }

  void couplingsAreTheBlocks() {
    const auto plain = make_model(decoder("model.kind=mamba1")),
               coupled =
                   make_model(decoder("model.kind=mamba1;model.coupling=euler;model.motif=021U;model.motif_warmup=3"));
    QVERIFY(plain->coupled() == nullptr);
    QVERIFY(coupled->coupled() != nullptr);
  }

  void whatIsNoWindowIsRefused() {
    const auto model = make_model(decoder("model.kind=lstm"));
    const auto windows = some_windows(2, torch::kFloat32);
    const auto labels = torch::tensor({std::int64_t{1}, std::int64_t{2}});
    QVERIFY(refusal([&] { model->loss(windows, labels); }).empty());
    QVERIFY(!refusal([&] { model->log_probabilities(windows.narrow(1, 0, bins - 1)); }).empty());
    QVERIFY(!refusal([&] { model->log_probabilities(windows.narrow(2, 0, channels - 1)); }).empty());
    QVERIFY(!refusal([&] { model->log_probabilities(some_tokens(2, bins, 2)); }).empty());
    QVERIFY(!refusal([&] { model->loss(windows, labels.narrow(0, 0, 1)); }).empty());
    QVERIFY(!refusal([&] { model->loss(windows, labels + 6); }).empty());
    QVERIFY(!refusal([&] { model->loss(windows, torch::ones({2, 4})); }).empty());
    QVERIFY(!refusal([&] { model->initial_state(1); }).empty());
    QVERIFY(!refusal([&] { make_model(ExperimentConfig())->log_probabilities(windows); }).empty());
  }
};

QTEST_APPLESS_MAIN(TestDecodingModel)
#include "test_decoding_model.moc"
