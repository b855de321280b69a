#include "core/sweep/sweep_summary.h"

#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/contract/student_t.h"
#include "core/contract/text.h"
#include "core/sweep/point_file.h"
#include "core/sweep/sweep_folder.h"
#include "core/sweep/sweep_merge.h"
#include "core/training/training_error.h"

using namespace mambarium;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

json evaluation(double gap) {
  const auto value = [](double mean) { return json{{"mean", mean}, {"standard_error", mean / 10}}; };
  return {{"gap_add_beta", value(gap)},
          {"gap_oracle", value(gap + 0.025)},
          {"model", value(0.5)},
          {"add_beta", value(0.4)},
          {"oracle", value(0.3)},
          {"uniform", value(0.7)},
          {"total_variation", value(1.0 / 3)},
          {"decay", {{"ordinary", 0.99}, {"at_switch", nullptr}}},
          {"read_out", {{"state", 0.98}, {"tokens", 0.72}}},
          {"inner_product_leak", 0.05},
          {"parameter_count", 1458}};
}

MetricsRow last_row() {
  MetricsRow row;
  row.step = 20;
  row.seconds = 12.5;
  row.train_loss = 0.6;
  return row;
}

ParsedSweep example() {
  return sweep_from_json(json::parse(R"({"name": "example", "title": "An example",
    "grid": {"task.order": [1, 2], "model.conv": ["x,B,C", "none"]}, "seeds": [0, 1, 2]})"),
                         "s.json");
}

PointMeasures measures(const std::vector<double>& values) {
  PointMeasures all;
  all.values = values;
  all.values.resize(sweep_measures().size(), absent);
  all.standard_errors.assign(sweep_measures().size(), absent);
  all.standard_errors[0] = 0.001;
  return all;
}

}  // namespace

class SweepSummaryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Any table of the distribution: 97.5 % quantiles.
  void studentsTableIsMet() {
    const std::array<std::pair<std::int64_t, double>, 8> table = {{{1, 12.7062},
                                                                   {2, 4.30265},
                                                                   {3, 3.18245},
                                                                   {4, 2.77645},
                                                                   {9, 2.26216},
                                                                   {30, 2.04227},
                                                                   {120, 1.97993},
                                                                   {100000, 1.95999}}};
    for (const auto& [degrees, quantile] : table) QVERIFY(std::abs(student_t_95(degrees) - quantile) < 1e-5 * quantile);
  }

  // The density integrated by Simpson's rule.
  void theDistributionIsTheIntegralOfItsDensity() {
    for (const std::int64_t degrees : {1, 2, 3, 4, 7, 8, 25}) {
      const auto nu = static_cast<double>(degrees);
      const double scale = std::exp(std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2)) / std::sqrt(nu * std::numbers::pi);
      const auto density = [&](double t) { return scale * std::pow(1 + t * t / nu, -(nu + 1) / 2); };
      for (const double t : {0.3, 1.0, 2.5, 6.0}) {
        constexpr int pieces = 2000;
        const double width = t / pieces;
        double sum = 0;
        for (int piece = 0; piece < pieces; ++piece)
          sum += density(piece * width) + 4 * density((piece + 0.5) * width) + density((piece + 1) * width);
        QVERIFY(std::abs(student_t_within(t, degrees) - 2 * sum * width / 6) < 1e-9);
      }
    }
  }

  void aCellIsItsMeanAndItsInterval() {
    const SweepSummary summary = summarised(std::vector{1.0, 2.0, 6.0});
    QCOMPARE(summary.n, std::int64_t{3});
    QVERIFY(std::abs(summary.mean - 3) < 1e-12);
    const double error = std::sqrt(7.0 / 3);
    QVERIFY(std::abs(summary.standard_error - error) < 1e-12);
    QVERIFY(std::abs(summary.high - (3 + 4.30265 * error)) < 1e-4);
    QVERIFY(std::abs(summary.low - (3 - 4.30265 * error)) < 1e-4);
    const SweepSummary alone = summarised(std::vector{absent, 2.0});
    QVERIFY(alone.n == 1 && alone.mean == 2 && std::isnan(alone.standard_error) && std::isnan(alone.low));
    const SweepSummary none = summarised(std::vector{absent});
    QVERIFY(none.n == 0 && std::isnan(none.mean));
  }

  void rowsAndCellsStandInTheOrderOfPoints() {
    const ParsedSweep sweep = example();
    std::vector<PointMeasures> all;
    for (std::size_t index = 0; index < sweep.points.size(); ++index)
      all.push_back(measures({static_cast<double>(index) / 7}));
    const SweepResult result = sweep_result(sweep.sweep, sweep.points, all);
    QCOMPARE(result.rows.size(), std::size_t{12});
    QCOMPARE(result.cells.size(), std::size_t{4});
    QVERIFY(std::abs(result.cell({1, 0}).summaries[0].mean - 7.0 / 7) < 1e-12);
    QCOMPARE(result.rows[7].settings, (std::vector<std::string>{"2", "x,B,C"}));
    QVERIFY(json(json(result).get<SweepResult>()) == json(result));

    const std::string csv = results_csv(result);
    const auto lines = split(csv, '\n');
    QCOMPARE(lines.size(), std::size_t{14});
    QVERIFY(lines[0].starts_with("point,task.order,model.conv,seed,gap_add_beta,gap_oracle,"));
    QVERIFY(lines[0].ends_with(",parameter_count,gap_add_beta_standard_error"));
    const std::string expected = sweep.points[1].id + ",1,\"x,B,C\",1," + shortest(1.0 / 7) + ",,,";
    QVERIFY2(lines[2].starts_with(expected), expected.c_str());
  }

  void aPointFileHoldsMeasuresAndNoTimes() {
    const QTemporaryDir place;
    const SweepFolder folder(place.path().toStdString());
    const SweepPoint point = example().points[4];
    const std::string text = point_file_text(point, evaluation(0.01), last_row());
    for (const char* word : {"seconds", "\"run\"", "host", "started"}) QVERIFY(text.find(word) == std::string::npos);
    QVERIFY(!folder.measures(point));
    folder.write_point(point, text);
    const auto read = folder.measures(point);
    QVERIFY(read.has_value());
    QCOMPARE(read->values[0], 0.01);
    QCOMPARE(read->standard_errors[0], 0.001);
    QCOMPARE(read->values[7], 1.0 / 3);
    QVERIFY(std::isnan(read->values[9]) && std::isnan(read->standard_errors[5]));
    QCOMPARE(read->values[10], 0.98);
    QCOMPARE(read->values[11], 0.72);
    QCOMPARE(read->values[12], 0.05);
    QVERIFY(std::isnan(read->values[13]));  // right answers: of induction heads alone
    QCOMPARE(read->values.back(), 1458.0);
    folder.write_point(point, text.substr(0, text.size() / 2));
    QVERIFY2(!folder.measures(point), "a cut file is none");
    folder.write_point(example().points[3], text);
    QVERIFY2(!folder.measures(example().points[3]), "nor is one of another point");
    QCOMPARE(std::distance(fs::directory_iterator(folder.path() / "points"), {}), std::ptrdiff_t{2});
    json lacking = evaluation(0.01);
    lacking.erase("decay");
    QVERIFY_EXCEPTION_THROWN(point_file_text(point, lacking, last_row()), std::invalid_argument);
  }

  // A loss's unit is that of the task, where all points have the same.
  void lossesAreInTheUnitOfTheTask() {
    ParsedSweep sweep = example();
    const auto unit = [&](const char* name) {
      const SweepResult result = unmeasured(sweep.sweep, sweep.points);
      return result.measures[result.measure(name)].unit;
    };
    const auto change = [&](SweepPoint& point, const char* key, const char* value) {
      QVERIFY(!point.config.set_from_string(key, value));
    };
    QCOMPARE(unit("gap_add_beta"), std::string("nats per token"));
    for (SweepPoint& point : sweep.points) change(point, "task.kind", "decoding");
    QCOMPARE(unit("gap_add_beta"), std::string("nats per window"));
    QCOMPARE(unit("train_loss"), std::string("nats per window"));
    QCOMPARE(unit("accuracy"), std::string());
    QCOMPARE(unit("motif_warm_up_steps"), std::string("steps"));
    change(sweep.points.back(), "task.answer", "outputs");
    QCOMPARE(unit("gap_add_beta"), std::string());
    for (SweepPoint& point : sweep.points) change(point, "task.answer", "outputs");
    QCOMPARE(unit("model_loss"), std::string("variances"));
    QVERIFY(unmeasured(sweep.sweep, sweep.points).measures == sweep_measures());
  }

  void anInductionHeadStandsBesideRecall() {
    SweepPoint point = example().points[4];
    QVERIFY(!point.config.set_from_string("task.kind", "induction"));
    json induction = evaluation(0.01);
    induction["accuracy"] = {{"mean", 0.75}, {"standard_error", 0.01}};
    QVERIFY_EXCEPTION_THROWN(point_file_text(point, induction, last_row()), std::invalid_argument);
    induction["recall"] = induction["add_beta"];
    induction["gap_recall"] = induction["gap_add_beta"];
    for (const char* const name : {"add_beta", "oracle", "gap_add_beta", "gap_oracle"}) induction.erase(name);
    const json read = json::parse(point_file_text(point, induction, last_row())).at("values");
    QVERIFY(read.at("add_beta_loss") == 0.4 && read.at("oracle_loss") == 0.4);
    QVERIFY(read.at("gap_add_beta") == 0.01 && read.at("gap_oracle") == 0.01);
    QVERIFY(read.at("uniform_loss") == 0.7);
  }

  void aDecoderAndACouplingAreMeasured() {
    SweepPoint point = example().points[4];
    const auto value = [](double mean) { return json{{"mean", mean}, {"standard_error", nullptr}}; };
    json decoder = evaluation(0.01);
    QVERIFY(!point.config.set_from_string("task.kind", "decoding"));
    decoder["ideal_decoder"] = value(0.3);
    decoder["gap_ideal_decoder"] = value(0.2);
    decoder["uninformed"] = value(2.1);
    for (const char* const name : {"add_beta", "oracle", "uniform", "gap_add_beta", "gap_oracle"}) decoder.erase(name);
    decoder["accuracy"] = value(0.75);
    decoder["ideal_accuracy"] = value(0.875);
    decoder["coupling"] = {{"hard_share", 0.25}, {"soft_share", nullptr}, {"cycle_hard_share", 0}};
    const json read = json::parse(point_file_text(point, decoder, last_row(), WarmUpRecord{137.5, 0.5})).at("values");
    QVERIFY(read.at("accuracy_below_ideal") == 0.125);
    QVERIFY(read.at("add_beta_loss") == 0.3 && read.at("oracle_loss") == 0.3 && read.at("gap_add_beta") == 0.2);
    QVERIFY(read.at("uniform_loss") == 2.1);
    QVERIFY(read.at("motif_warm_up_steps") == 137.5);
    QVERIFY(read.at("motif_warm_up_reached") == 0.5);
    QVERIFY(read.at("motif_hard_share") == 0.25);
    QVERIFY(read.at("motif_soft_share").is_null());
    QVERIFY(read.at("cycle_hard_share") == 0.0);
    decoder["ideal_accuracy"] = value(absent);  // a recording from files
    QVERIFY(json::parse(point_file_text(point, decoder, last_row())).at("values").at("accuracy_below_ideal").is_null());
    const SweepPoint chain = example().points[4];
    const json plain = json::parse(point_file_text(chain, evaluation(0.01), last_row())).at("values");
    for (const char* const name :
         {"accuracy_below_ideal", "motif_warm_up_steps", "motif_hard_share", "cycle_hard_share"})
      QVERIFY2(plain.at(name).is_null(), name);
  }

  void foldersAreMergedAndContradictionsRefused() {
    const QTemporaryDir place;
    const fs::path root = place.path().toStdString();
    const ParsedSweep sweep = example();
    const SweepFolder whole(root / "whole"), odd(root / "odd"), even(root / "even"), merged(root / "merged");
    for (std::size_t index = 0; index < sweep.points.size(); ++index) {
      const std::string text =
          point_file_text(sweep.points[index], evaluation(static_cast<double>(index) / 7), last_row());
      whole.write_point(sweep.points[index], text);
      (index % 2 == 0 ? even : odd).write_point(sweep.points[index], text);
    }
    QVERIFY(whole.write_results(sweep.sweep, sweep.points).empty());
    copy_points(std::vector{root / "even"}, merged, sweep.points);
    QCOMPARE(merged.write_results(sweep.sweep, sweep.points).size(), std::size_t{6});
    QVERIFY2(!fs::exists(root / "merged" / "results.json"), "results are whole or not there");
    copy_points(std::vector{root / "even", root / "odd"}, merged, sweep.points);
    QVERIFY(merged.write_results(sweep.sweep, sweep.points).empty());
    const ReadSweepResult one = read_sweep_result(root / "whole"), other = read_sweep_result(root / "merged");
    QVERIFY2(one.problems.empty(), to_string(one.problems).c_str());
    QVERIFY(json(one.result) == json(other.result));

    odd.write_point(sweep.points[0], point_file_text(sweep.points[0], evaluation(0.5), last_row()));
    QVERIFY_EXCEPTION_THROWN(copy_points(std::vector{root / "even", root / "odd"}, merged, sweep.points),
                             TrainingError);
  }
};

QTEST_APPLESS_MAIN(SweepSummaryTest)
#include "sweep_summary_test.moc"
