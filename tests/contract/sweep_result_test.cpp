#include "core/contract/sweep_result.h"

#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "sentence.h"

using namespace mambarium;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

// Two axes of two and three positions, two seeds; every number says where it belongs.
SweepResult example() {
  SweepResult result;
  result.name = "example";
  result.title = "An example";
  result.axes = {{"task.order", "Order k", {"task.order"}, {"1", "2"}, {1, 2}},
                 {"case", "Case", {"model.conv", "model.gate"}, {"full", "no gate", "no convolution"}, {}}};
  result.seeds = {0, 7};
  result.keys = {"task.order", "model.conv", "model.gate"};
  result.measures = {{"gap", "Gap", "nats per token"}, {"decay_switch", "Mean a_t", ""}};
  for (std::size_t order = 0; order < 2; ++order)
    for (std::size_t part = 0; part < 3; ++part) {
      const double value = 0.1 + static_cast<double>(3 * order + part) / 3;
      for (const std::int64_t seed : result.seeds)
        result.rows.push_back({"point", {order, part}, seed, {"1", "x,B,C", "on"}, {value, absent}, {0.01, absent}});
      result.cells.push_back(
          {{order, part}, {{value, 0.02, 2, value - 0.1, value + 0.1}, {absent, absent, 0, absent, absent}}});
    }
  return result;
}

}  // namespace

class SweepResultTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void itReadsBackFromAFileAndItsFolder() {
    const QTemporaryDir folder;
    const fs::path path = fs::path(folder.path().toStdString()) / "results.json";
    const json written = example();
    std::ofstream(path) << written.dump(1);
    for (const fs::path& given : {path, path.parent_path()}) {
      const ReadSweepResult read = read_sweep_result(given);
      QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
      QVERIFY(json(read.result) == written);
      QVERIFY(read.result.axes == example().axes);
      QCOMPARE(read.result.measures[0].unit, std::string("nats per token"));
      QVERIFY(std::isnan(read.result.rows[0].values[1]));
      QCOMPARE(read.result.rows[3].values[0], example().rows[3].values[0]);
    }
  }

  void cellsAndMeasuresAreFound() {
    const SweepResult result = example();
    QCOMPARE(result.measure("decay_switch"), std::size_t{1});
    QCOMPARE(result.cell({1, 2}).summaries[0].mean, 0.1 + 5.0 / 3);
    QVERIFY_EXCEPTION_THROWN(result.measure("loss"), std::out_of_range);
    QVERIFY_EXCEPTION_THROWN(result.cell({1, 3}), std::out_of_range);
    QVERIFY_EXCEPTION_THROWN(result.cell({1}), std::out_of_range);
  }

  void whatIsBrokenIsOneSentence_data() {
    QTest::addColumn<QString>("pointer");
    QTest::addColumn<QString>("value");
    QTest::newRow("a name that is a number") << "/name"
                                             << "3";
    QTest::newRow("no axes") << "/axes"
                             << "null";
    QTest::newRow("an axis without labels") << "/axes/0/labels"
                                            << "[]";
    QTest::newRow("labels that are numbers") << "/axes/0/labels"
                                             << "[1, 2]";
    QTest::newRow("too few numbers") << "/axes/0/numbers"
                                     << "[1]";
    QTest::newRow("no seeds") << "/seeds"
                              << "[]";
    QTest::newRow("a row off the axis") << "/rows/0/position"
                                        << "[2, 0]";
    QTest::newRow("a row with one index") << "/rows/0/position"
                                          << "[0]";
    QTest::newRow("a row in another cell") << "/rows/0/position"
                                           << "[1, 1]";
    QTest::newRow("a value that is text") << "/rows/0/values/gap"
                                          << "\"x\"";
    QTest::newRow("a missing row") << "/rows"
                                   << "[]";
    QTest::newRow("a summary that is a list") << "/cells/0/summaries/gap"
                                              << "[]";
    QTest::newRow("a base with an unknown setting") << "/base/task"
                                                    << "{\"ordr\": 1}";
  }
  void whatIsBrokenIsOneSentence() {
    QFETCH(QString, pointer);
    QFETCH(QString, value);
    const QTemporaryDir folder;
    const fs::path path = fs::path(folder.path().toStdString()) / "results.json";
    json document = example();
    document[json::json_pointer(pointer.toStdString())] = json::parse(value.toStdString());
    std::ofstream(path) << document.dump();
    const ReadSweepResult read = read_sweep_result(path);
    QCOMPARE(read.problems.size(), std::size_t{1});
    QVERIFY2(is_one_sentence(to_string(read.problems[0])), to_string(read.problems[0]).c_str());
    QVERIFY(mentions(read.problems[0].where, "results.json"));
  }

  void anAbsentFileIsOneProblem() { QCOMPARE(read_sweep_result("/nowhere/at/all").problems.size(), std::size_t{1}); }
};

QTEST_APPLESS_MAIN(SweepResultTest)
#include "sweep_result_test.moc"
