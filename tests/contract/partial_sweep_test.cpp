#include "core/contract/partial_sweep.h"

#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

using namespace mambarium;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// One axis of two positions, two seeds; nothing measured.
SweepResult plan() {
  SweepResult result;
  result.name = result.title = "example";
  result.axes = {{"task.order", "Order k", {"task.order"}, {"1", "2"}, {1, 2}}};
  result.seeds = {0, 1};
  result.keys = {"task.order"};
  result.measures = sweep_measures();
  const std::vector<double> unknown(result.measures.size(), nan);
  for (std::size_t index = 0; index < 4; ++index)
    result.rows.push_back(
        {"point-" + std::to_string(index), {index / 2}, static_cast<std::int64_t>(index % 2), {"1"}, unknown, unknown});
  summarise(result);
  return result;
}

json point(const std::string& id, double value) {
  json values = json::object(), errors = json::object();
  for (const SweepMeasure& measure : sweep_measures()) {
    values[measure.name] = value;
    errors[measure.name] = nullptr;
  }
  return {{"point", id}, {"values", values}, {"standard_errors", errors}};
}

class Folder {
 public:
  Folder() {
    fs::create_directories(path() / "points");
    write("plan.json", json(plan()).dump());
  }
  fs::path path() const { return folder_.path().toStdString(); }
  void write(const fs::path& file, const std::string& text) const { std::ofstream(path() / file) << text; }

 private:
  QTemporaryDir folder_;
};

}  // namespace

class PartialSweepTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aPlanAloneHasNothing() {
    const Folder folder;
    const PartialSweep sweep = read_partial_sweep(folder.path());
    QVERIFY2(sweep.problems.empty(), to_string(sweep.problems).c_str());
    QCOMPARE(sweep.done, std::size_t{0});
    QVERIFY(!sweep.finished());
    QCOMPARE(sweep.result.rows.size(), std::size_t{4});
    QCOMPARE(sweep.result.cells[0].summaries[0].n, std::int64_t{0});
  }

  void pointsAreTakenAsTheyCome() {
    const Folder folder;
    folder.write("points/point-0.json", point("point-0", 1).dump());
    folder.write("points/point-1.json", point("point-1", 3).dump());
    folder.write("points/point-2.json", point("point-2", 5).dump());
    const PartialSweep sweep = read_partial_sweep(folder.path());
    QVERIFY(sweep.problems.empty());
    QCOMPARE(sweep.done, std::size_t{3});
    const SweepSummary& both = sweep.result.cells[0].summaries[0];
    QCOMPARE(both.n, std::int64_t{2});
    QCOMPARE(both.mean, 2.0);
    QCOMPARE(both.standard_error, 1.0);
    const SweepSummary& alone = sweep.result.cells[1].summaries[0];
    QCOMPARE(alone.n, std::int64_t{1});
    QCOMPARE(alone.mean, 5.0);
    QVERIFY(std::isnan(alone.low));
    QVERIFY(std::isnan(sweep.result.rows[3].values[0]));
  }

  void whatIsCutOrOfAnotherPointIsStillToCome() {
    const Folder folder;
    folder.write("points/point-0.json", point("point-0", 1).dump().substr(0, 40));
    folder.write("points/point-1.json", point("point-0", 1).dump());
    json lacking = point("point-2", 1);
    lacking["values"].erase("gap_oracle");
    folder.write("points/point-2.json", lacking.dump());
    const PartialSweep sweep = read_partial_sweep(folder.path());
    QVERIFY(sweep.problems.empty());
    QCOMPARE(sweep.done, std::size_t{0});
  }

  void resultsCountOnceTheyAreWritten() {
    const Folder folder;
    SweepResult result = plan();
    for (SweepRow& row : result.rows) row.values.assign(row.values.size(), 7);
    summarise(result);
    folder.write("results.json", json(result).dump());
    for (const fs::path& path : {folder.path(), folder.path() / "results.json"}) {
      const PartialSweep sweep = read_partial_sweep(path);
      QVERIFY(sweep.problems.empty() && sweep.finished());
      QCOMPARE(sweep.result.cells[1].summaries[0].mean, 7.0);
    }
  }

  void aPlanInAnotherUnitIsRead() {
    const Folder folder;
    SweepResult decoders = plan();
    decoders.measures = sweep_measures_in("variances");
    folder.write("plan.json", json(decoders).dump());
    const PartialSweep sweep = read_partial_sweep(folder.path());
    QVERIFY2(sweep.problems.empty(), to_string(sweep.problems).c_str());
    QCOMPARE(sweep.result.measures[0].unit, std::string("variances"));
  }

  void whatIsNoSweepIsOneSentence() {
    const Folder folder;
    folder.write("plan.json", "{");
    QCOMPARE(read_partial_sweep(folder.path()).problems.size(), std::size_t{1});
    SweepResult other = plan();
    other.measures.resize(2);
    for (SweepRow& row : other.rows) {
      row.values.resize(2);
      row.standard_errors.resize(2);
    }
    summarise(other);
    folder.write("plan.json", json(other).dump());
    const PartialSweep sweep = read_partial_sweep(folder.path());
    QCOMPARE(sweep.problems.size(), std::size_t{1});
    QVERIFY(to_string(sweep.problems).find("another version") != std::string::npos);
    const QTemporaryDir empty;
    QCOMPARE(read_partial_sweep(empty.path().toStdString()).problems.size(), std::size_t{1});
  }
};

QTEST_GUILESS_MAIN(PartialSweepTest)
#include "partial_sweep_test.moc"
