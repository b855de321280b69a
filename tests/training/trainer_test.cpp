#include "core/training/trainer.h"

#include <torch/torch.h>

#include <QDir>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "core/contract/length_schedule.h"
#include "core/models/coupled_model.h"
#include "core/models/parameter.h"
#include "core/motif/coupling.h"
#include "core/training/learning_rate.h"
#include "core/training/safetensors.h"
#include "tests/training/run_fixtures.h"

using namespace mambarium;
namespace fs = std::filesystem;

class TrainerTest : public QObject {
  Q_OBJECT
  QTemporaryDir root_;

  fs::path at(const char* name) const { return fs::path(root_.path().toStdString()) / name; }

  std::unique_ptr<Trainer> fresh(const char* name, const ExperimentConfig& config = small_experiment()) const {
    return Trainer::create(config, {.folder = at(name)});
  }

  void finish(const char* name) const {
    const auto trainer = fresh(name);
    advance_to(*trainer, 200);
  }

  // A run that stopped at `step` and, where it is said, left its last checkpoints damaged, goes on to the end of
  // another.
  void compareToUninterrupted(const char* name) const {
    if (!fs::exists(at("uninterrupted"))) finish("uninterrupted");
    QCOMPARE(metrics_without_seconds(at(name)), metrics_without_seconds(at("uninterrupted")));
    for (const std::int64_t step : {0, 60, 120, 180, 200}) {
      QCOMPARE(text_of(checkpoint_path(at(name), step)), text_of(checkpoint_path(at("uninterrupted"), step)));
      QCOMPARE(text_of(state_path(at(name), step)), text_of(state_path(at("uninterrupted"), step)));
    }
  }

 private Q_SLOTS:
  void aCouplingIsHeldBelowItsCap() {
    for (const double cap : {0.0, 0.02}) {
      ExperimentConfig config = small_experiment();
      for (const auto& [key, value] : {std::pair{"model.kind", "mamba1"},
                                       {"model.coupling", "euler"},
                                       {"model.coupling_scale", "1"},
                                       {"training.lr", "0.05"}})
        config.set_from_string(key, value);
      config.set("model.coupling_cap", cap);
      const auto trainer = Trainer::create(config);
      double largest = 0;  // of the norm of M in parts of the slowest decay
      for (std::int64_t step = 1; step <= 40; ++step) {
        advance_to(*trainer, step);
        const CoupledModel::Parts parts = trainer->model().coupled()->coupling(0, 0);
        const double norm = spectral_norm({.n = 4, .rank = 2, .p = parts.P, .q = parts.Q, .k = parts.scale});
        for (const Parameter& parameter : trainer->model().parameters())
          if (parameter.name == "layers.0.A_log")
            largest = std::max(largest, norm / parameter.tensor.exp().min().item<double>());
      }
      QVERIFY2(cap == 0 ? largest > 0.05 : largest > 0.019 && largest <= 0.02 * (1 + 1e-5),
               std::to_string(largest).c_str());
    }
  }

  void equalRunsWriteEqualBytes() {
    ExperimentConfig elsewhere = small_experiment();
    elsewhere.set("run.out", std::string("another place"));
    const auto trainer = fresh("equal", elsewhere);
    advance_to(*trainer, 200);
    QVERIFY(trainer->finished());
    compareToUninterrupted("equal");
  }

  void equalRunsOnTwoThreadsToo() {
    ExperimentConfig config = small_experiment();
    config.set("run.threads", std::int64_t{2});
    for (const char* const name : {"two-threads", "two-threads-again"}) advance_to(*fresh(name, config), 200);
    QCOMPARE(metrics_without_seconds(at("two-threads")), metrics_without_seconds(at("two-threads-again")));
    QCOMPARE(text_of(checkpoint_path(at("two-threads"), 200)), text_of(checkpoint_path(at("two-threads-again"), 200)));
  }

  void rowsAndCheckpointsComeWhenDue() {
    const auto trainer = fresh("due");
    advance_to(*trainer, 200);
    trainer->advance();
    QCOMPARE(trainer->step(), 200);
    std::vector<std::int64_t> steps;
    for (const MetricsRow& row : trainer->rows()) steps.push_back(row.step);
    QVERIFY((steps == std::vector<std::int64_t>{0, 50, 100, 150, 200}));
    QVERIFY((trainer->checkpoints() == std::vector<std::int64_t>{0, 60, 120, 180, 200}));
    QVERIFY(std::isnan(trainer->rows()[0].train_loss));
    QCOMPARE(trainer->rows()[2].tokens, 100 * 4 * 16);
    QCOMPARE(trainer->rows()[2].learning_rate, learning_rate(Schedule::one_cycle, 0.002, 99, 200));
    for (const MetricsRow& row : trainer->rows()) {
      QCOMPARE(row.gap_add_beta, row.test_loss - row.add_beta_loss);
      QCOMPARE(row.gap_oracle, row.test_loss - row.oracle_loss);
      QCOMPARE(row.add_beta_loss, trainer->rows()[0].add_beta_loss);
    }
    const ReadRunFolder read = read_run_folder(at("due"));
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
    QVERIFY(read.run.config == small_experiment());
    QCOMPARE(read.run.rows.size(), std::size_t{5});
    QCOMPARE(read.run.rows[4].test_loss, trainer->rows()[4].test_loss);
    QVERIFY(read.run.checkpoints == trainer->checkpoints());
    QCOMPARE(read.run.manifest.status, std::string("finished"));
    QCOMPARE(read.run.manifest.step, 200);
    QCOMPARE(read.run.manifest.parameter_count, trainer->parameter_count());
  }

  void rowsThatAreGoneAreSaidAndTheLastOneIsMeasuredAgain() {
    finish("rows-gone");
    const ReadRunFolder whole = read_run_folder(at("rows-gone"));
    const auto text = text_of(at("rows-gone") / "metrics.csv");
    const auto two_rows = text.find("\n50,");
    write_whole_file(at("rows-gone") / "metrics.csv", text.substr(0, text.find('\n', two_rows + 1) + 1));
    const auto trainer = Trainer::resume(at("rows-gone"));
    QVERIFY(trainer->finished());
    QCOMPARE(trainer->notes().size(), std::size_t{1});
    QVERIFY(trainer->notes()[0].find("ends at step 50") != std::string::npos);
    QVERIFY(trainer->notes()[0].find("step 200") != std::string::npos);
    QCOMPARE(trainer->rows().size(), std::size_t{3});
    QCOMPARE(trainer->rows().back().step, 200);
    QCOMPARE(trainer->rows().back().test_loss, whole.run.rows.back().test_loss);
    QVERIFY(std::isnan(trainer->rows().back().train_loss));
    QCOMPARE(read_run_folder(at("rows-gone")).run.rows.size(), std::size_t{3});
  }

  void trainLossIsTheMeanSinceTheLastRow() {
    const auto trainer = fresh("train-loss");
    double sum = 0;
    for (int step = 1; step <= 100; ++step) {
      trainer->advance();
      if (step > 50) sum += trainer->last_train_loss();
    }
    QVERIFY(std::abs(trainer->rows()[2].train_loss - sum / 50) < 1e-12);
  }

  void stoppedAndResumedEqualsUninterrupted() {
    {
      const auto trainer = fresh("resumed");
      advance_to(*trainer, 137);
      trainer->write_checkpoint();
    }
    const auto trainer = Trainer::resume(at("resumed"));
    QCOMPARE(trainer->step(), 137);
    QVERIFY(trainer->notes().empty());
    QCOMPARE(trainer->rows().size(), std::size_t{3});
    advance_to(*trainer, 200);
    compareToUninterrupted("resumed");
  }

  // Killed at step 170: the newest checkpoint is of step 120, the row of step 150 is on disk and is not written twice.
  void killedAndResumedEqualsUninterrupted() {
    { advance_to(*fresh("killed"), 170); }
    const auto trainer = Trainer::resume(at("killed"));
    QCOMPARE(trainer->step(), 120);
    QCOMPARE(trainer->rows().back().step, 150);
    advance_to(*trainer, 200);
    compareToUninterrupted("killed");
  }

  // 16 tokens from step 171 on, and 4 until step 114.
  void growingLengthsAreResumedToo() {
    ExperimentConfig config = small_experiment();
    config.set("training.first_length", std::int64_t{4});
    advance_to(*fresh("growing", config), 200);
    for (const std::int64_t stop : {60, 114, 115, 171}) {
      const auto trainer =
          fs::exists(at("growing on")) ? Trainer::resume(at("growing on")) : fresh("growing on", config);
      advance_to(*trainer, stop);
      trainer->write_checkpoint();
    }
    const auto trainer = Trainer::resume(at("growing on"));
    advance_to(*trainer, 200);
    QCOMPARE(metrics_without_seconds(at("growing on")), metrics_without_seconds(at("growing")));
    QCOMPARE(text_of(checkpoint_path(at("growing on"), 200)), text_of(checkpoint_path(at("growing"), 200)));
    QCOMPARE(trainer->rows().back().tokens, LengthSchedule(config).tokens_before(200));
    QVERIFY(trainer->rows().back().tokens < 200 * 4 * 16);

    // The first 60 steps are those of a run of 4 tokens; the test sequences are not.
    ExperimentConfig shorter = small_experiment();
    shorter.set("task.length", std::int64_t{4});
    advance_to(*fresh("short", shorter), 60);
    const auto of_growing = SafetensorsFile::read(checkpoint_path(at("growing"), 60));
    const auto of_short = SafetensorsFile::read(checkpoint_path(at("short"), 60));
    QCOMPARE(of_growing.metadata().at("checksum"), of_short.metadata().at("checksum"));
  }

  void everyResumeAlongTheWay() {
    { advance_to(*fresh("often"), 30); }
    for (const std::int64_t stop : {70, 125, 126, 190, 199}) {
      const auto trainer = Trainer::resume(at("often"));
      advance_to(*trainer, stop);
      trainer->write_checkpoint();
    }
    advance_to(*Trainer::resume(at("often")), 200);
    for (const std::int64_t step : {70, 125, 126, 190, 199}) QVERIFY(fs::exists(state_path(at("often"), step)));
    compareToUninterrupted("often");
  }

  void truncatedCheckpointIsPassedOver_data() {
    QTest::addColumn<bool>("state_file");
    QTest::newRow("weights") << false;
    QTest::newRow("state") << true;
  }
  void truncatedCheckpointIsPassedOver() {
    QFETCH(bool, state_file);
    const char* const name = state_file ? "truncated-state" : "truncated-weights";
    { advance_to(*fresh(name), 130); }
    const fs::path broken = state_file ? state_path(at(name), 120) : checkpoint_path(at(name), 120);
    fs::resize_file(broken, fs::file_size(broken) - 100);
    const auto trainer = Trainer::resume(at(name));
    QCOMPARE(trainer->step(), 60);
    QCOMPARE(trainer->notes().size(), std::size_t{1});
    const QString note = QString::fromStdString(trainer->notes()[0]);
    QVERIFY2(note.startsWith("going on from step 60: ") && note.contains("step-000120"), qPrintable(note));
    advance_to(*trainer, 200);
    compareToUninterrupted(name);
  }

  void weightsOfAnotherStepAreNoticed() {
    { advance_to(*fresh("mixed"), 120); }
    fs::copy_file(checkpoint_path(at("mixed"), 60), checkpoint_path(at("mixed"), 120),
                  fs::copy_options::overwrite_existing);
    const auto trainer = Trainer::resume(at("mixed"));
    QCOMPARE(trainer->step(), 60);
    QVERIFY(trainer->notes().at(0).find("belongs to other weights") != std::string::npos);
  }

  void withoutAnyCheckpointItSaysSo() {
    { fresh("none"); }
    write_whole_file(checkpoint_path(at("none"), 0), "junk");
    const QString said = refusal([&] { Trainer::resume(at("none")); });
    QVERIFY2(said.contains("no checkpoint that can be read whole") && said.contains("step-000000"), qPrintable(said));
  }

  void aLineCutByAPowerFailureIsWrittenAgain() {
    { advance_to(*fresh("cut"), 100); }
    const fs::path metrics = at("cut") / "metrics.csv";
    fs::resize_file(metrics, fs::file_size(metrics) - 7);
    const auto trainer = Trainer::resume(at("cut"));
    QCOMPARE(trainer->step(), 60);
    advance_to(*trainer, 200);
    compareToUninterrupted("cut");
  }

  void brokenFilesOfARunAreNamed() {
    { fresh("broken"); }
    const std::string metrics = text_of(at("broken") / "metrics.csv");
    write_whole_file(at("broken") / "metrics.csv", metrics + "1,2,three\n");
    QVERIFY(refusal([&] { Trainer::resume(at("broken")); }).contains("metrics.csv:3"));
    write_whole_file(at("broken") / "metrics.csv", metrics);
    write_whole_file(at("broken") / "manifest.json", "{");
    QCOMPARE(Trainer::resume(at("broken"))->step(), 0);
    QVERIFY(read_run_folder(at("broken")).problems.empty());
    write_whole_file(at("broken") / "experiment.json", "{\"model\": {\"d_state\": 0}}");
    QVERIFY(refusal([&] { Trainer::resume(at("broken")); }).contains("model.d_state"));
    QVERIFY(refusal([&] { Trainer::resume(at("nowhere")); }).contains("no run folder"));
  }

  void aFolderInUseIsRefused() {
    const auto trainer = fresh("used");
    QVERIFY(refusal([&] { Trainer::resume(at("used")); }).contains("in use by another run"));
    QVERIFY(refusal([&] { fresh("used"); }).contains("is not empty"));
  }

  void newFoldersAreNewAndWellNamed() {
    ExperimentConfig config = small_experiment();
    config.set("run.out", root_.path().toStdString());
    config.set("task.order", std::int64_t{3});
    const fs::path first = Trainer::new_folder(config), second = Trainer::new_folder(config);
    QVERIFY(first != second);
    QCOMPARE(first.parent_path().string(), root_.path().toStdString());
    const QRegularExpression name("^\\d{4}-\\d\\d-\\d\\d-mamba2-k3-[0-9a-f]{4}$");
    QVERIFY(name.match(QString::fromStdString(first.filename().string())).hasMatch());
  }

  void gateOffLeavesAllOtherInitialParameters() {
    ExperimentConfig without = small_experiment();
    without.set("model.gate", false);
    { fresh("gate"), fresh("no-gate", without); }
    const auto with_gate = SafetensorsFile::read(checkpoint_path(at("gate"), 0));
    const auto no_gate = SafetensorsFile::read(checkpoint_path(at("no-gate"), 0));
    QVERIFY(no_gate.tensors().size() < with_gate.tensors().size());
    for (const auto& [name, entry] : no_gate.tensors()) {
      QVERIFY2(with_gate.tensors().contains(name), name.c_str());
      QVERIFY2(std::ranges::equal(with_gate.tensors().at(name).data, entry.data), name.c_str());
    }
  }

  void poisonedWeightsStopTheRun() {
    const auto trainer = fresh("poisoned");
    advance_to(*trainer, 70);
    const std::string good = text_of(checkpoint_path(at("poisoned"), 60));
    Parameter& victim = trainer->model().parameters()[1];
    {
      const torch::NoGradGuard no_gradients;
      victim.tensor.view({-1})[0] = std::numeric_limits<float>::quiet_NaN();
    }
    const QString said = refusal([&] { trainer->advance(); });
    QVERIFY2(said.contains("diverged at step 71") && said.contains("the loss is nan"), qPrintable(said));
    QVERIFY2(said.contains(QString::fromStdString(victim.name)) && said.contains("| Lower training.lr"),
             qPrintable(said));
    QCOMPARE(refusal([&] { trainer->advance(); }), said);
    QVERIFY(refusal([&] { trainer->write_checkpoint(); }) == said);
    QCOMPARE(trainer->step(), 70);
    const ReadRunFolder read = read_run_folder(at("poisoned"));
    QCOMPARE(read.run.manifest.status, std::string("failed"));
    QVERIFY(read.run.manifest.exit_reason.find("step 71") != std::string::npos);
    QVERIFY((read.run.checkpoints == std::vector<std::int64_t>{0, 60}));
    QCOMPARE(text_of(checkpoint_path(at("poisoned"), 60)), good);
  }

  void poisonedWeightsAreNeverWritten() {
    const auto trainer = fresh("unwritten");
    advance_to(*trainer, 10);
    {
      const torch::NoGradGuard no_gradients;
      trainer->model().parameters()[0].tensor.fill_(std::numeric_limits<float>::infinity());
    }
    QVERIFY(refusal([&] { trainer->write_checkpoint(); }).contains("not finite"));
    QVERIFY(!fs::exists(checkpoint_path(at("unwritten"), 10)));
  }

  // The metrics are small and still fit where a checkpoint does not.
  void aFullDiskStopsTheRunAndHarmsNothing() {
    const auto trainer = fresh("full");
    advance_to(*trainer, 110);
    const std::string good = text_of(checkpoint_path(at("full"), 60));
    QString said;
    {
      const FileSizeLimit limit(2000);
      said = refusal([&] { advance_to(*trainer, 130); });
    }
    QVERIFY2(said.contains("step-000120.safetensors") && said.contains("| Free some space"), qPrintable(said));
    QCOMPARE(text_of(checkpoint_path(at("full"), 60)), good);
    QVERIFY(!fs::exists(checkpoint_path(at("full"), 120)));
    QCOMPARE(QDir(QString::fromStdString((at("full") / "checkpoints").string())).entryList({"*.tmp"}).size(), 0);
    QVERIFY(refusal([&] { trainer->advance(); }) == said);
  }

  void afterAFullDiskTheRunGoesOn() {
    const auto trainer = Trainer::resume(at("full"));
    QCOMPARE(trainer->step(), 60);
    advance_to(*trainer, 200);
    compareToUninterrupted("full");
  }

  void memoryOnlyRunsWriteNothing() {
    const auto trainer = Trainer::create(small_experiment());
    advance_to(*trainer, 60);
    trainer->write_checkpoint();
    QVERIFY(!trainer->folder());
    QVERIFY(trainer->checkpoints().empty());
    QCOMPARE(trainer->rows().size(), std::size_t{2});
  }

  void evaluateEqualsTheRow() {
    const auto trainer = Trainer::create(small_experiment());
    advance_to(*trainer, 50);
    const Evaluation evaluation = evaluate(trainer->model(), trainer->config(), 512);
    QCOMPARE(evaluation.model, trainer->rows().back().test_loss);
    QCOMPARE(evaluation.add_beta, trainer->rows().back().add_beta_loss);
    QCOMPARE(evaluation.oracle, trainer->rows().back().oracle_loss);
    QCOMPARE(evaluation.uniform, std::log(2.0));
    QCOMPARE(evaluation.sequences, 512);
    QVERIFY(evaluation.oracle < evaluation.add_beta && evaluation.add_beta < evaluation.uniform);
  }

  void loadCheckpoint() {
    double loss = 0;
    {
      const auto trainer = fresh("loaded");
      advance_to(*trainer, 60);
      loss = evaluate(trainer->model(), trainer->config(), 512).model;
    }
    const auto model = make_model(small_experiment());
    load_checkpoint(*model, checkpoint_path(at("loaded"), 60));
    QCOMPARE(evaluate(*model, small_experiment(), 512).model, loss);
  }

  void misfittingCheckpointsAreNamedAndChangeNothing_data() {
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("message");
    QTest::newRow("wider") << "model.d_model"
                           << "8"
                           << "has shape [2, 4], expected [2, 8]";
    QTest::newRow("without gate") << "model.gate"
                                  << "off"
                                  << "is not one of this model";
    QTest::newRow("deeper") << "model.layers"
                            << "2"
                            << "is missing";
  }
  void misfittingCheckpointsAreNamedAndChangeNothing() {
    QFETCH(QString, setting);
    QFETCH(QString, value);
    QFETCH(QString, message);
    if (!fs::exists(at("misfit"))) fresh("misfit");
    ExperimentConfig other = small_experiment();
    QVERIFY(!other.set_from_string(setting.toStdString(), value.toStdString()));
    const auto model = make_model(other);
    const double before = evaluate(*model, other, 64).model;
    const QString said = refusal([&] { load_checkpoint(*model, checkpoint_path(at("misfit"), 0)); });
    QVERIFY2(said.contains("step-000000.safetensors: tensor \"") && said.contains(message), qPrintable(said));
    QCOMPARE(evaluate(*model, other, 64).model, before);
    QVERIFY(
        refusal([&] { load_checkpoint(*model, at("missing.safetensors")); }).contains("missing.safetensors: No such"));
  }

  void settingsThatDoNotFitAreRefused() {
    ExperimentConfig config = small_experiment();
    config.set("model.headdim", std::int64_t{3});
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, Trainer::create(config));
  }
};

QTEST_APPLESS_MAIN(TrainerTest)
#include "trainer_test.moc"
