// A measurement that is too short to mean anything, for its form.
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/bench/bench.h"
#include "core/bench/bench_table.h"

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
    QCOMPARE(report.measurements.size(), std::size_t{5});
    const std::string text = to_markdown(report);
    for (const BenchMeasurement& measurement : report.measurements) {
      QVERIFY(measurement.median > 0 && std::isfinite(measurement.median));
      QVERIFY(measurement.best >= measurement.median && std::isfinite(measurement.best));
      QVERIFY(measurement.per_processor_second > 0 && std::isfinite(measurement.per_processor_second));
      QVERIFY(text.find("| " + measurement.subject + " | ") != std::string::npos);
    }
    const auto document = to_json(report);
    QCOMPARE(document.at("measurements").size(), std::size_t{5});
    QVERIFY(document.at("measurements").at(0).at("subject").get<std::string>() == "training step, fused");
    QVERIFY(document.at("experiment").at("task").at("length").get<int>() == 16);
  }

  void the_table_has_every_row() {
    const BenchTable table = run_bench_table({.rounds = 1, .seconds = 0}, 4, 16);
    QVERIFY(table.peak > 1e8 && table.peak < 1e12);  // 0.1 to 1000 GFLOP/s of one core
    QCOMPARE(table.training.size(), std::size_t{5});
    QCOMPARE(table.training[0].parameter_count, 1458);
    for (const TrainingSpeed& row : table.training) {
      for (const double speed : {row.fused, row.fused_two_threads, row.torch, row.torch_two_threads}) {
        QVERIFY(speed > 0 && std::isfinite(speed));
      }
      QCOMPARE(row.ratio(), row.fused / std::max(row.torch, row.torch_two_threads));
    }
    // 2 FLOPs for each of 8 (49 + 16 + 96 + 2) weights and 5 for each of 128 numbers of the state, three times.
    QCOMPARE(table.training[0].flops_per_token, 3.0 * (2 * 8 * (49 + 16 + 96 + 2) + 5 * 128));
    QCOMPARE(table.scans.size(), std::size_t{16});
    for (const ScanSpeed& row : table.scans) {
      QVERIFY(row.fused > 0 && row.fused_forward > 0 && row.torch > 0);
      QCOMPARE(row.flops, 19.0 * static_cast<double>(row.headdim * row.d_state));
    }
    const auto document = to_json(table);
    QCOMPARE(document.at("scans").size(), table.scans.size());
    QVERIFY(document.at("training").at(0).at("ratio").get<double>() > 0);
    QVERIFY(to_markdown(table).find("| 128 | 128 | 64 |") != std::string::npos);
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
