// A measurement that is too short to mean anything, for its form.
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/bench/bench.h"

using namespace mambarium;

class TestBench : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_setting_is_the_papers() {
    const ExperimentConfig config = bench_config();
    QVERIFY(config.validate().empty());
    QCOMPARE(config.integer("task.length"), 512);
    QCOMPARE(config.integer("training.batch"), 64);
    QCOMPARE(config.integer("run.threads"), 1);
  }

  void every_subject_is_measured() {
    ExperimentConfig config = bench_config();
    config.set("task.length", std::int64_t{16});
    config.set("training.batch", std::int64_t{4});
    const BenchReport report = run_bench(config, {.rounds = 3, .seconds = 0});
    QCOMPARE(report.config, config);
    QCOMPARE(report.parameter_count, 1458);
    QCOMPARE(report.measurements.size(), std::size_t{4});
    const std::string text = to_markdown(report);
    for (const BenchMeasurement& measurement : report.measurements) {
      QVERIFY(measurement.median > 0 && std::isfinite(measurement.median));
      QVERIFY(measurement.best >= measurement.median && std::isfinite(measurement.best));
      QVERIFY(measurement.per_processor_second > 0 && std::isfinite(measurement.per_processor_second));
      QVERIFY(text.find("| " + measurement.subject + " | ") != std::string::npos);
    }
    const auto document = to_json(report);
    QCOMPARE(document.at("measurements").size(), std::size_t{4});
    QVERIFY(document.at("measurements").at(0).at("subject").get<std::string>() == "training step, kernels");
    QVERIFY(document.at("experiment").at("task").at("length").get<int>() == 16);
  }

  void what_cannot_be_run_is_refused() {
    ExperimentConfig config = bench_config();
    config.set("model.headdim", std::int64_t{5});
    QVERIFY_EXCEPTION_THROWN(run_bench(config, {.rounds = 1, .seconds = 0}), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(run_bench(bench_config(), {.rounds = 0, .seconds = 0}), std::invalid_argument);
  }
};

QTEST_APPLESS_MAIN(TestBench)
#include "test_bench.moc"
