#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "tests/training/run_fixtures.h"

using namespace mambarium;
namespace fs = std::filesystem;

// Every kind of model goes through the same trainer: what it writes, and that stopping changes nothing.
class ModelKindsTest : public QObject {
  Q_OBJECT
  QTemporaryDir root_;

  fs::path at(const QString& name) const { return fs::path((root_.path() + "/" + name).toStdString()); }

  static ExperimentConfig experiment(const QString& settings) {
    ExperimentConfig config = small_experiment();
    for (const QString& setting : settings.split(';')) {
      const QStringList parts = setting.split('=');
      config.set_from_string(parts[0].toStdString(), parts[1].toStdString());
    }
    return config;
  }

 private Q_SLOTS:
  void stoppedAndResumedEqualsUninterrupted_data() {
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QString>("engine");
    QTest::newRow("transformer") << "model.kind=transformer;model.layers=2;model.headdim=2"
                                 << "torch";
    QTest::newRow("convolved") << "model.kind=transformer;model.attention=linear;model.conv_qkv=Q,K,V"
                               << "torch";
    QTest::newRow("ngram") << "model.kind=ngram"
                           << "torch";
    QTest::newRow("one filter") << "model.conv_filters=shared"
                                << "fused";
    QTest::newRow("fixed filter") << "model.conv_filters=fixed;model.conv=x,C;run.device=auto"
                                  << "fused";
  }
  void stoppedAndResumedEqualsUninterrupted() {
    QFETCH(QString, settings);
    QFETCH(QString, engine);
    const ExperimentConfig config = experiment(settings);
    QVERIFY2(config.validate().empty(), to_string(config.validate()).c_str());
    const QString name = QTest::currentDataTag();
    const fs::path whole = at(name + " whole"), halved = at(name + " halved");
    advance_to(*Trainer::create(config, {.folder = whole}), 200);
    {
      const auto trainer = Trainer::create(config, {.folder = halved});
      advance_to(*trainer, 137);
      trainer->write_checkpoint();
    }
    const auto trainer = Trainer::resume(halved);
    QCOMPARE(trainer->step(), 137);
    advance_to(*trainer, 200);
    QCOMPARE(metrics_without_seconds(halved), metrics_without_seconds(whole));
    QCOMPARE(text_of(checkpoint_path(halved, 200)), text_of(checkpoint_path(whole, 200)));
    QCOMPARE(text_of(state_path(halved, 200)), text_of(state_path(whole, 200)));
    QCOMPARE(read_run_folder(halved).run.manifest.engine, engine.toStdString());
  }

  void theEstimatorOfTheTaskHasNoGapToItself() {
    ExperimentConfig config = experiment("model.kind=ngram;task.order=2;model.ngram_order=2;task.beta=0.5");
    const auto trainer = Trainer::create(config);
    QCOMPARE(trainer->parameter_count(), 0);
    advance_to(*trainer, 200);
    for (const MetricsRow& row : trainer->rows()) QVERIFY(std::abs(row.gap_add_beta) < 1e-6);
    QVERIFY(std::abs(trainer->rows().back().train_loss - trainer->rows().back().test_loss) < 0.05);
    config.set("model.ngram_order", std::int64_t{1});
    QVERIFY(Trainer::create(config)->rows().back().gap_add_beta > 0.01);
  }

  void theGpuIsRefusedBeforeAnythingIsWritten() {
    for (const char* settings : {"model.kind=transformer", "model.kind=ngram", "model.conv_filters=shared"}) {
      const ExperimentConfig config = experiment(QString(settings) + ";run.device=cuda");
      QVERIFY_EXCEPTION_THROWN(Trainer::create(config, {.folder = at("refused")}), std::invalid_argument);
    }
    QVERIFY(!fs::exists(at("refused")));
  }
};

QTEST_APPLESS_MAIN(ModelKindsTest)
#include "model_kinds_test.moc"
