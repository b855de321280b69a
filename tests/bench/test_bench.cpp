// A measurement that is too short to mean anything, for its form.
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/bench/bench.h"
#include "core/bench/bench_table.h"
#include "core/bench/grouped_number.h"

using namespace mambarium;

namespace {

// Widths that fill no vector, lengths that fill no chunk.
constexpr KernelSizes small = {.length = 37,
                               .scan_batch = 3,
                               .channels = 13,
                               .d_state = 7,
                               .convolution_batch = 3,
                               .convolution_channels = 21,
                               .window = 3,
                               .norm_rows = 15,
                               .width = 27,
                               .vocabulary = 331,
                               .padded_vocabulary = 336,
                               .rows = 9,
                               .head_rows = 70,
                               .d_model = 19};

}  // namespace

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
    const BenchTable table = run_bench_table({.rounds = 1, .seconds = 0}, 4, 16, small);
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
    QCOMPARE(document.at("kernels").size(), table.kernels.size());
    const std::string text = to_markdown(table);
    QVERIFY(text.find("| 128 | 128 | 64 |") != std::string::npos);
    QVERIFY(text.ends_with(to_markdown(table.kernels, table.peak)));
  }

  // Every result and gradient, the two computed in different orders in float32.
  void kernels_and_operators_agree() {
    std::size_t cases = 0;
    for (const auto& make : kernel_cases(small)) {
      const KernelCase pair = make();
      const double difference = pair.difference();
      QVERIFY2(difference > 0 && difference < 5e-6, (pair.kernel + ": " + std::to_string(difference)).c_str());
      ++cases;
    }
    QCOMPARE(cases, std::size_t{9});
  }

  void the_kernels_table_has_a_line_for_each() {
    const auto speeds = time_kernels(small, {.rounds = 1, .seconds = 0});
    const std::pair<const char*, const char*> expected[] = {{"Mamba-1 scan", "D 13, N 7, T 37, B 3"},
                                                            {"coupled scan, r = 2", "D 13, N 7, T 37, B 3"},
                                                            {"Mamba-1 scan", "D 13, N 7, T 148, B 3"},
                                                            {"coupled scan, r = 2", "D 13, N 7, T 148, B 3"},
                                                            {"causal convolution, SiLU", "C 21, w 3, T 37, B 3"},
                                                            {"layer norm", "width 27, 15 rows"},
                                                            {"gated RMSNorm", "width 27, 15 rows"},
                                                            {"softmax cross entropy", "V 331 of 336, 9 rows"},
                                                            {"head cross entropy", "V 331, d_model 19, 70 rows"}};
    QCOMPARE(speeds.size(), std::size(expected));
    constexpr double peak = 1e11;
    const std::string text = to_markdown(speeds, peak);
    const auto document = to_json(speeds, peak);
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      const KernelSpeed& row = speeds[i];
      QCOMPARE(row.kernel, std::string(expected[i].first));
      QCOMPARE(row.shape, std::string(expected[i].second));
      QCOMPARE(row.unit, std::string(i < 5 ? "token" : "row"));
      for (const double speed : {row.fused, row.torch, row.torch_two_threads}) {
        QVERIFY(speed > 0 && std::isfinite(speed));
      }
      QCOMPARE(row.ratio(), row.fused / std::max(row.torch, row.torch_two_threads));
      QVERIFY(text.find("| " + row.kernel + " | " + row.shape + " | ") != std::string::npos);
      QCOMPARE(document.at(i).at("ratio").get<double>(), row.ratio());
      QCOMPARE(document.at(i).at("share_of_peak").get<double>(), row.fused * row.flops / peak);
    }
    QCOMPARE(speeds[0].flops, 26.0 * 13 * 7);
    QCOMPARE(speeds[0].bytes, 4.0 * (8 * 13 + 6 * 7));  // x, dt, y; x, dt, dy, dx, ddt; B and C twice, dB, dC
    QCOMPARE(speeds[1].flops, (26.0 + 16 * 2) * 13 * 7);
    QCOMPARE(speeds[4].flops, (6.0 * 3 + 9) * 21);
    QCOMPARE(speeds[8].bytes, 4.0 * 2 * (331 * 19 / 70.0 + 19) + 8);  // rows, head, and their gradients; the target
  }

  void a_wrong_kernel_is_not_timed() {
    KernelCase pair = kernel_cases(small)[3]();
    for (const double difference : {1e-3, std::nan("")}) {
      pair.difference = [difference] { return difference; };
      QVERIFY_EXCEPTION_THROWN(time_kernel(pair, {.rounds = 1, .seconds = 0}), std::runtime_error);
    }
  }

  void numbers_are_grouped() {
    QCOMPARE(grouped(0), std::string("0"));
    QCOMPARE(grouped(999.4), std::string("999"));
    QCOMPARE(grouped(1000), std::string("1,000"));
    QCOMPARE(grouped(1234567.8), std::string("1,234,568"));
  }

  // Whether there is a GPU or not: what would be said of one.
  void a_gpu_has_its_own_rows() {
    BenchTable table;
    table.training.push_back({.setting = "small", .config = {}, .parameter_count = 1458, .fused = 2e6, .gpu = 5e7});
    QVERIFY(to_markdown(table).find("GPU") == std::string::npos && !to_json(table).contains("gpu"));
    table.gpu = "Some GPU";
    table.gpu_scans.push_back({{256, 512, 1, 16, 8}, 1e10});
    QCOMPARE(table.gpu_scans[0].bytes(), 4.0 * (16 + 16 + 8 + 8 + 1 + 1));  // x, y, B, C, dt, a
    const std::string text = to_markdown(table);
    for (const char* row : {"(Some GPU)", "| small | 1,458 | 50,000,000 | 25.0 x |",
                            "| 16 | 8 | 512 | 256 | 10,000,000,000 | 200 | 2000.0 |"}) {
      QVERIFY2(text.find(row) != std::string::npos, text.c_str());
    }
    const auto document = to_json(table).at("gpu");
    QCOMPARE(document.at("scans_forward").at(0).at("bytes_per_token").get<double>(), 200.0);
    QCOMPARE(document.at("training").at(0).at("tokens_per_second").get<double>(), 5e7);
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
