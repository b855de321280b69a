#include "core/analysis/decoding.h"

#include <QFloat16>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/analysis/analysis.h"
#include "core/training/decoded_test.h"
#include "core/training/input_dropout.h"
#include "tests/decoding/stored_npz.h"
#include "tests/training/run_fixtures.h"

using namespace mambarium;
namespace fs = std::filesystem;

// Decoders go through the trainer as every model does.
class DecodingTest : public QObject {
  Q_OBJECT
  QTemporaryDir root_;

  fs::path at(const QString& name) const { return fs::path((root_.path() + "/" + name).toStdString()); }

  static ExperimentConfig experiment(const QString& settings) {
    ExperimentConfig config = small_experiment();
    const QString small =
        "task.kind=decoding;task.trials=40;task.channels=8;task.window=10;training.batch=8;training.steps=60;"
        "training.eval_every=20;training.checkpoint_every=20;training.lr=0.01;" +
        settings;
    for (const QString& setting : small.split(';')) {
      const auto problem =
          config.set_from_string(setting.section('=', 0, 0).toStdString(), setting.section('=', 1).toStdString());
      if (problem) throw std::logic_error(to_string(*problem));
    }
    return config;
  }

 private Q_SLOTS:
  void everyKindLearns_data() {
    QTest::addColumn<QString>("settings");
    QTest::newRow("mamba1") << "model.kind=mamba1";
    QTest::newRow("coupled") << "model.kind=mamba1;model.coupling=euler;model.motif=021U;model.motif_warmup=20";
    QTest::newRow("mamba2") << "model.kind=mamba2";
    QTest::newRow("transformer") << "model.kind=transformer";
    QTest::newRow("lstm") << "model.kind=lstm";
    QTest::newRow("rwkv4") << "model.kind=rwkv4";
    QTest::newRow("outputs") << "model.kind=mamba1;task.answer=outputs";
    QTest::newRow("smoothed") << "model.kind=mamba1;task.smoothing=causal";
  }
  void everyKindLearns() {
    QFETCH(QString, settings);
    const ExperimentConfig config = experiment(
        "task.trials=200;task.window=36;task.channels=24;task.tuned=1;task.modulation=3;model.d_model=8;"
        "model.input_dropout=0.2;training.batch=16;" +
        settings);
    QVERIFY2(config.validate().empty(), to_string(config.validate()).c_str());
    const auto trainer = Trainer::create(config);
    advance_to(*trainer, 60);
    const MetricsRow &first = trainer->rows().front(), &last = trainer->rows().back();
    QVERIFY2(last.test_loss < first.test_loss - 0.3, qPrintable(QString::number(last.test_loss)));
    QCOMPARE(last.tokens, std::int64_t{60 * 16 * 36});
    QVERIFY(std::isfinite(last.add_beta_loss) && last.add_beta_loss < last.test_loss);
    QCOMPARE(last.gap_add_beta, last.test_loss - last.add_beta_loss);
    const bool outputs = settings.contains("outputs");
    QCOMPARE(std::isfinite(last.accuracy), !outputs);
    QCOMPARE(std::isfinite(last.r_squared), outputs);
  }

  // Read out as the mean over the bins, outputs of such windows come to an R^2 of 0.08 to 0.30 (seeds 0 to 2), and from
  // the last bin, whose they are, to 0.62 to 0.75.
  void outputsAreReadFromTheBinTheyAreOf() {
    const auto trainer = Trainer::create(
        experiment("model.kind=mamba1;task.answer=outputs;task.trials=200;task.window=30;task.channels=24;task.tuned=1;"
                   "task.modulation=3;model.d_model=16;model.input_dropout=0;training.batch=16;training.steps=200;"
                   "training.eval_every=200"));
    advance_to(*trainer, 200);
    const double r_squared = trainer->rows().back().r_squared;
    QVERIFY2(r_squared > 0.6, qPrintable(QString::number(r_squared)));
  }

  void stoppedAndResumedEqualsUninterrupted_data() {
    QTest::addColumn<QString>("settings");
    QTest::newRow("directions") << "model.kind=mamba1";
    QTest::newRow("outputs") << "model.kind=lstm;task.answer=outputs";
  }
  void stoppedAndResumedEqualsUninterrupted() {
    QFETCH(QString, settings);
    const ExperimentConfig config = experiment(settings);
    const QString name = QTest::currentDataTag();
    const fs::path whole = at(name + " whole"), again = at(name + " again"), halved = at(name + " halved");
    advance_to(*Trainer::create(config, {.folder = whole}), 60);
    advance_to(*Trainer::create(config, {.folder = again}), 60);
    {
      const auto trainer = Trainer::create(config, {.folder = halved});
      advance_to(*trainer, 33);
      trainer->write_checkpoint();
    }
    const auto trainer = Trainer::resume(halved);
    QCOMPARE(trainer->step(), 33);
    advance_to(*trainer, 60);
    for (const fs::path& other : {again, halved}) {
      QCOMPARE(metrics_without_seconds(other), metrics_without_seconds(whole));
      QCOMPARE(text_of(checkpoint_path(other, 60)), text_of(checkpoint_path(whole, 60)));
      QCOMPARE(text_of(state_path(other, 60)), text_of(state_path(whole, 60)));
    }
    const auto elsewhere = Trainer::create(experiment(settings + ";training.seed=1"));
    advance_to(*elsewhere, 20);
    QVERIFY(elsewhere->rows().back().test_loss != trainer->rows()[1].test_loss);
  }

  void dropoutLeavesOutTheShareAndKeepsTheMean() {
    const Stream stream(4, "dropout");
    std::vector<float> numbers(200001, 2), again(200001, 2), other(200001, 2);
    drop_inputs(numbers, 0.3, stream, 7);
    drop_inputs(again, 0.3, stream, 7);
    drop_inputs(other, 0.3, stream, 8);
    QVERIFY(numbers == again);
    QVERIFY(numbers != other);
    double dropped = 0, sum = 0;
    for (const float number : numbers) {
      QVERIFY(number == 0 || std::abs(number - 2 / 0.7f) < 1e-6f);
      dropped += number == 0 ? 1 : 0;
      sum += static_cast<double>(number);
    }
    // Four standard deviations of a share of 0.3 in 200,001.
    QVERIFY(std::abs(dropped / 200001 - 0.3) < 4 * std::sqrt(0.3 * 0.7 / 200001));
    QVERIFY(std::abs(sum / 200001 - 2) < 0.03);
    std::vector<float> untouched(10, 5);
    drop_inputs(untouched, 0, stream, 7);
    QCOMPARE(untouched, std::vector<float>(10, 5));
  }

  void dropoutIsOfTrainingAlone() {
    const auto none = Trainer::create(experiment("model.kind=lstm;model.input_dropout=0"));
    const auto half = Trainer::create(experiment("model.kind=lstm;model.input_dropout=0.5"));
    QCOMPARE(none->rows().front().test_loss, half->rows().front().test_loss);
    none->advance();
    half->advance();
    QVERIFY(none->last_train_loss() != half->last_train_loss());
  }

  void theIdealDecoderIsTheBestOfItsTestPart() {
    const ExperimentConfig config = experiment("model.kind=lstm");
    const DecodingTask task(config);
    const DecodedTest ideal = decode_test_ideally(task);
    double right = 0, loss = 0;
    for (std::size_t i = 0; i < task.ideal().size(); ++i) {
      const auto truth = task.windows().label[static_cast<std::size_t>(task.split().test[i])];
      right += task.ideal()[i].direction() == truth ? 1 : 0;
      loss -= std::log(task.ideal()[i].posterior[static_cast<std::size_t>(truth)]);
    }
    const auto windows = static_cast<double>(task.test_windows());
    QVERIFY(std::abs(ideal.classes.accuracy - right / windows) < 1e-12);
    QVERIFY(std::abs(ideal.loss - loss / windows) < 1e-9);
    QVERIFY(ideal.loss < uninformed_loss(task));
    QCOMPARE(uninformed_loss(task), std::log(8.0));
    const auto model = make_model(config);
    const Evaluation test = evaluate(*model, config, 512);
    QCOMPARE(test.sequences, task.test_windows());
    QCOMPARE(test.best_accuracy, ideal.classes.accuracy);
    QCOMPARE(test.add_beta, ideal.loss);
    QCOMPARE(test.model, decode_test(*model, task).loss);
  }

  void outputsAreScoredAsRecorded() {
    const ExperimentConfig config = experiment("model.kind=lstm;task.answer=outputs");
    const DecodingTask task(config);
    const auto model = make_model(config);
    const DecodedTest test = decode_test(*model, task);
    const std::vector<float> truth = test_outputs(task);
    QCOMPARE(test.outputs.size(), truth.size());
    QCOMPARE(test.r_squared.size(), std::size_t{4});
    QCOMPARE(test.r_squared_of_all, multivariate_r2(truth, test.outputs, 4));
    const std::vector<float> answered = task.on_scale(test.outputs), wanted = task.on_scale(truth);
    double sum = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      sum += std::pow(static_cast<double>(answered[i]) - static_cast<double>(wanted[i]), 2);
    QVERIFY(std::abs(test.loss - sum / static_cast<double>(wanted.size())) < 1e-5);
    const Evaluation evaluation = evaluate(*model, config, 512);
    QVERIFY(std::isnan(evaluation.accuracy) && evaluation.best_r_squared > 0.1);
    QVERIFY(evaluation.add_beta < evaluation.uniform);
  }

  void filesWithoutAnIdealDecoderHaveEmptyColumns() {
    const QString path = root_.filePath("day.npz");
    write_day(path.toStdString(), 400, 10, 3);
    const fs::path folder = at("files");
    const auto trainer =
        Trainer::create(experiment("model.kind=mamba1;task.recording=windows;task.files=" + path), {.folder = folder});
    advance_to(*trainer, 60);
    QVERIFY(std::isnan(trainer->rows().back().gap_add_beta));
    QVERIFY2(trainer->rows().back().accuracy > 0.9, qPrintable(QString::number(trainer->rows().back().accuracy)));
    const ReadRunFolder read = read_run_folder(folder);
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
    QVERIFY(std::isnan(read.run.rows.back().oracle_loss));
    QCOMPARE(read.run.rows.back().accuracy, trainer->rows().back().accuracy);
    const nlohmann::json row = read.run.rows.back();
    QVERIFY(row.at("gap_add_beta").is_null());
    QVERIFY(std::isnan(row.get<MetricsRow>().gap_add_beta));
    const DecodingData data = inspect_decoding(trainer->model(), trainer->config(), 60);
    QVERIFY(std::isnan(data.ideal.loss) && data.ideal.confusion.shape[0] == 0);
    QCOMPARE(data.model.confusion.shape, (std::vector<std::int64_t>{3, 3}));
    const auto again = inspect(trainer->model(), trainer->config(), {.what = "decoding"}, 60, trainer->decoding());
    QCOMPARE(again, nlohmann::json(data));
    QVERIFY(Trainer::create(small_experiment())->decoding() == nullptr);
  }

  void theInspectionSurvivesTheWire_data() {
    QTest::addColumn<QString>("answer");
    QTest::newRow("direction") << "direction";
    QTest::newRow("outputs") << "outputs";
  }
  void theInspectionSurvivesTheWire() {
    QFETCH(QString, answer);
    const ExperimentConfig config = experiment("model.kind=mamba1;task.answer=" + answer);
    const auto model = make_model(config);
    const nlohmann::json sent = inspect(*model, config, {.what = "decoding"}, 5);
    const auto data = sent.get<DecodingData>();
    QCOMPARE(nlohmann::json(data), sent);
    QCOMPARE(data.step, std::int64_t{5});
    QCOMPARE(data.outputs, answer == "outputs");
    const DecodingTask task(config);
    QCOMPARE(data.windows, task.test_windows());
    if (data.outputs) {
      QCOMPARE(data.output_names, task.output_names());
      QVERIFY(data.ideal.r_squared_of_all > data.model.r_squared_of_all);
    } else {
      double all = 0, right = 0;
      for (std::size_t i = 0; i < data.model.confusion.data.size(); ++i) {
        all += static_cast<double>(data.model.confusion.data[i]);
        if (i % 9 == 0) right += static_cast<double>(data.model.confusion.data[i]);
      }
      QCOMPARE(all, static_cast<double>(data.windows));
      QVERIFY(std::abs(right / all - data.model.accuracy) < 1e-12);
      QVERIFY(data.ideal.accuracy > data.model.accuracy);
    }
    for (std::size_t i = 0; i < data.bins.size(); ++i)
      QCOMPARE(data.bins[i], task.windows().first_bin[static_cast<std::size_t>(task.split().test[i])] + 9);
    QCOMPARE(data.truth.shape, data.model.trace.shape);
    auto broken = sent;
    broken["bins"].push_back(0);
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, broken.get<DecodingData>());
  }

  void whatADecoderHasNoAnswerToIsSaid() {
    const ExperimentConfig config = experiment("model.kind=mamba1;model.coupling=euler");
    for (const char* what : {"decay", "prediction", "state", "inner_products", "quantisation", "extrapolation"})
      QVERIFY2(nothing_to_inspect(config, what).has_value(), what);
    for (const char* what : {"decoding", "filters", "theorem4", "circuit", "flow", "reconstruction"})
      QVERIFY2(!nothing_to_inspect(config, what).has_value(), what);
    for (const char* what : {"circuit", "flow", "reconstruction"})
      QVERIFY2(nothing_to_inspect(experiment("model.kind=mamba1"), what).has_value(), what);
    QVERIFY(nothing_to_inspect(ExperimentConfig(), "decoding").has_value());
  }
};

QTEST_APPLESS_MAIN(DecodingTest)
#include "decoding_test.moc"
