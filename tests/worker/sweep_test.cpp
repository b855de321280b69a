#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "../contract/sentence.h"
#include "core/contract/run_folder.h"
#include "core/contract/sweep_result.h"
#include "worker_process.h"

using namespace mambarium;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr int patience_ms = 60000;

json tiny_base() {
  return {{"task", {{"length", 16}}},
          {"model", {{"d_model", 4}, {"d_state", 4}}},
          {"training", {{"steps", 20}, {"batch", 8}, {"eval_every", 10}, {"checkpoint_every", 10}}}};
}

// Six points: two axes, one of them of cases, and seeds.
json tiny_sweep() {
  return {{"name", "tiny"},
          {"title", "Tiny runs"},
          {"base", tiny_base()},
          {"cases", json::array({{{"label", "plain"}, {"settings", json::object()}},
                                 {{"label", "no forgetting"}, {"settings", {{"model", {{"decay", "one"}}}}}},
                                 {{"label", "switching"}, {"settings", {{"task", {{"kind", "switching"}}}}}}})},
          {"seeds", {0, 1}}};
}

// Runs that last long enough to be met on their way.
json longer_sweep() {
  json sweep = tiny_sweep();
  sweep["base"]["training"]["steps"] = 6000;
  sweep["base"]["training"]["eval_every"] = 1000;
  sweep["base"]["training"]["checkpoint_every"] = 200;
  sweep.erase("cases");
  sweep["grid"] = {{"task.order", {1, 2}}};
  return sweep;
}

std::string state_of(const std::string& process) {
  const std::string stat = content("/proc/" + process + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? "" : stat.substr(name_end + 2, 1);
}

// A `sweep` to be met on its way.
class Sweeping {
 public:
  explicit Sweeping(const QStringList& arguments) {
    process.start(MAMBARIUM_BIN_DIR "/mambarium-worker", QStringList{"sweep"} + arguments);
    process.waitForStarted();
  }
  ~Sweeping() {
    process.kill();
    process.waitForFinished();
  }
  std::vector<std::string> children() const {
    const std::string id = std::to_string(process.processId());
    std::vector<std::string> all;
    std::istringstream words(content("/proc/" + id + "/task/" + id + "/children"));
    for (std::string child; words >> child;) all.push_back(child);
    return all;
  }
  bool signal(int number) { return send_signal(process, number); }
  int end() {
    process.waitForFinished(patience_ms);
    return process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
  }

  QProcess process;
};

bool all_are_gone(const std::vector<std::string>& processes) {
  return std::ranges::all_of(processes, [](const std::string& process) {
    const std::string state = state_of(process);
    return state.empty() || state == "Z" || state == "X";
  });
}

// Something is finished and measured, and another run is between two of its checkpoints.
bool is_in_the_middle(const fs::path& out) {
  std::error_code error;
  bool measured = false, under_way = false;
  for (const auto& file : fs::directory_iterator(out / "points", error)) measured |= file.path().extension() == ".json";
  for (const auto& run : fs::directory_iterator(out / "runs", error)) {
    const ReadRunFolder read = read_run_folder(run.path());
    under_way |= read.problems.empty() && read.run.manifest.status == "running" && read.run.checkpoints.size() > 2;
  }
  return measured && under_way;
}

std::map<std::string, Manifest> runs_in(const fs::path& out) {
  std::map<std::string, Manifest> runs;
  for (const auto& run : fs::directory_iterator(out / "runs"))
    runs[run.path().filename().string()] = read_run_folder(run.path()).run.manifest;
  return runs;
}

}  // namespace

class SweepTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    const Finished finished = sweep(tiny_sweep(), {"--out", out("whole"), "--workers=2"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    QVERIFY2(finished.out.startsWith("Tiny runs: 6 points, 0 of them done, 2 at a time"), finished.out.constData());
    QVERIFY(finished.out.contains("6 of 6: "));
  }

  void resultsAreWhatTheRunsMeasure() {
    const ReadSweepResult read = read_sweep_result(path("whole"));
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
    const SweepResult& result = read.result;
    QCOMPARE(result.rows.size(), std::size_t{6});
    const auto of = [&](const SweepRow& row, const char* name) { return row.values[result.measure(name)]; };
    for (const SweepRow& row : result.rows) {
      const ReadRunFolder run = read_run_folder(path("whole") + "/runs/" + row.point);
      QVERIFY2(run.problems.empty(), to_string(run.problems).c_str());
      QCOMPARE(run.run.manifest.status, std::string("finished"));
      QCOMPARE(run.run.config.integer("training.seed"), row.seed);
      const MetricsRow& last = run.run.rows.back();
      QVERIFY(std::abs(of(row, "gap_add_beta") - last.gap_add_beta) < 1e-5);
      QVERIFY(std::abs(of(row, "gap_oracle") - last.gap_oracle) < 1e-5);
      QCOMPARE(of(row, "train_loss"), last.train_loss);
      QCOMPARE(of(row, "parameter_count"), static_cast<double>(run.run.manifest.parameter_count));
      QVERIFY(of(row, "total_variation") > 0 && of(row, "total_variation") < 1);
      QCOMPARE(std::isnan(of(row, "decay_ordinary")), row.position[0] == 1);
      QCOMPARE(std::isnan(of(row, "decay_switch")), row.position[0] != 2);
    }
    const SweepSummary& summary = result.cell({1}).summaries[0];
    QCOMPARE(summary.n, std::int64_t{2});
    const double difference = result.rows[3].values[0] - result.rows[2].values[0];
    QVERIFY(std::abs(summary.high - summary.low - std::abs(difference) * 12.7062) < 1e-4 * std::abs(difference));
  }

  void doneIsDone() {
    const auto before = runs_in(path("whole"));
    const std::string results = content(path("whole") + "/results.json");
    const Finished again = sweep(tiny_sweep(), {"--out", out("whole")});
    QCOMPARE(again.code, 0);
    QVERIFY2(again.out.contains("6 points, 6 of them done"), again.out.constData());
    for (const auto& [name, manifest] : runs_in(path("whole"))) QVERIFY(json(manifest) == json(before.at(name)));
    QVERIFY(content(path("whole") + "/results.json") == results);
  }

  void resultsOfAnotherPlanAreNotLeft() {
    json more = tiny_sweep();
    fs::copy(path("whole"), path("grown"), fs::copy_options::recursive);
    more["seeds"].push_back(7);
    Sweeping sweeping({file(more), "--out", out("grown"), "--workers=1"});
    QTRY_VERIFY_WITH_TIMEOUT(!fs::exists(path("grown") + "/results.json"), patience_ms);
    QCOMPARE(sweeping.end(), 0);
    QVERIFY(fs::exists(path("grown") + "/results.json"));
  }

  void fourShardsMergedAreTheWhole() {
    QStringList merge = {"--out", out("merged"), "--merge"};
    for (const char* shard : {"1", "2", "3", "4"}) {
      const QString folder = out(QString("shard") + shard);
      merge << folder;
      if (*shard == '4') {
        fs::create_directories(folder.toStdString() + "/points");
        const Finished early = sweep(tiny_sweep(), merge);
        QCOMPARE(early.code, 1);
        QVERIFY2(early.err.contains("1 of 6 points are in none of these folders: no-forgetting_seed-1_"),
                 early.err.constData());
      }
      const Finished finished = sweep(tiny_sweep(), {"--out", folder, "--shard", QString(shard) + "/4"});
      QVERIFY2(finished.code == 0, finished.err.constData());
      QVERIFY(finished.out.contains("points of others are not in"));
    }
    const Finished merged = sweep(tiny_sweep(), merge);
    QVERIFY2(merged.code == 0, merged.err.constData());
    results_are_equal("merged", "whole");
  }

  void shardsShareAFolderAtTheSameTime() {
    Sweeping one({file(tiny_sweep()), "--out", out("shared"), "--shard=1/2", "--workers=1"});
    Sweeping other({file(tiny_sweep()), "--out", out("shared"), "--shard=2/2", "--workers=1"});
    QCOMPARE(one.end(), 0);
    QCOMPARE(other.end(), 0);
    results_are_equal("shared", "whole");
    QCOMPARE(std::distance(fs::directory_iterator(path("shared")), {}), std::ptrdiff_t{5});
  }

  void aKilledSweepGoesOn() {
    const QStringList arguments = {file(longer_sweep()), "--out", out("killed"), "--workers=2"};
    std::vector<std::string> children;
    {
      Sweeping sweeping(arguments);
      QTRY_VERIFY_WITH_TIMEOUT(is_in_the_middle(path("killed")), patience_ms);
      children = sweeping.children();
      QVERIFY(sweeping.signal(SIGKILL));
      QCOMPARE(sweeping.end(), -1);
    }
    QVERIFY(!children.empty());
    QTRY_VERIFY_WITH_TIMEOUT(all_are_gone(children), patience_ms);
    const auto before = runs_in(path("killed"));
    const auto count = [&](const char* status) {
      return std::ranges::count_if(before, [&](const auto& run) { return run.second.status == status; });
    };
    QVERIFY(count("finished") >= 1);
    QVERIFY(count("interrupted") >= 1);

    const Finished resumed = run_worker(QStringList{"sweep"} + arguments);
    QVERIFY2(resumed.code == 0, resumed.err.constData());
    for (const auto& [name, manifest] : runs_in(path("killed"))) {
      QCOMPARE(manifest.status, std::string("finished"));
      if (!before.contains(name)) continue;
      const Manifest& earlier = before.at(name);
      if (earlier.status == "finished") QVERIFY2(json(manifest) == json(earlier), "it was not touched");
      if (earlier.step > 0) QCOMPARE(manifest.started, earlier.started);
    }
    QCOMPARE(sweep(longer_sweep(), {"--out", out("unkilled"), "--workers=2"}).code, 0);
    results_are_equal("killed", "unkilled");
  }

  void controlCLeavesCheckpoints() {
    Sweeping sweeping({file(longer_sweep()), "--out", out("stopped"), "--workers=1"});
    QTRY_VERIFY_WITH_TIMEOUT(is_in_the_middle(path("stopped")), patience_ms);
    const auto children = sweeping.children();
    QVERIFY(sweeping.signal(SIGINT));
    QCOMPARE(sweeping.end(), 130);
    QVERIFY(!children.empty() && all_are_gone(children));
    QVERIFY(sweeping.process.readAllStandardError().contains("The same command goes on"));
    std::int64_t paused = 0;
    for (const auto& [name, manifest] : runs_in(path("stopped"))) {
      const ReadRunFolder read = read_run_folder(path("stopped") + "/runs/" + name);
      if (manifest.status == "finished") continue;
      ++paused;
      QCOMPARE(manifest.status, std::string("paused"));
      QCOMPARE(read.run.checkpoints.back(), manifest.step);
    }
    QCOMPARE(paused, std::int64_t{1});
  }

  void aRunThatFailsStopsNoOther() {
    json diverging = tiny_sweep();
    diverging["cases"] = json::parse(R"([
        {"label": "wild", "settings": {"model": {"norm": "none", "activation": "none", "layers": 8},
                                       "training": {"lr": 10, "clip": 0, "schedule": "constant"}}},
        {"label": "calm", "settings": {}}])");
    for (const char* told : {"4 points, 0 of them done", "4 points, 2 of them done"}) {
      const Finished finished = sweep(diverging, {"--out", out("diverging"), "--workers=1"});
      QCOMPARE(finished.code, 1);
      QVERIFY2(finished.out.contains(told), finished.out.constData());
      const auto complaints = finished.complaints();
      QCOMPARE(complaints.size(), std::size_t{3});
      QVERIFY2(
          complaints[0].starts_with("wild_seed-0_") && mentions(complaints[0], " failed: training diverged at step"),
          complaints[0].c_str());
      QVERIFY(complaints[1].starts_with("wild_seed-1_"));
      QVERIFY2(mentions(complaints[2], "2 of 4 points failed") && mentions(complaints[2], "/diverging/runs"),
               complaints[2].c_str());
      QCOMPARE(std::distance(fs::directory_iterator(path("diverging") + "/points"), {}), std::ptrdiff_t{2});
      QVERIFY(!fs::exists(path("diverging") + "/results.json"));
    }
  }

  void badInputIsRefused_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* name, const QStringList& arguments, const char* expected) {
      QTest::newRow(name) << arguments << expected;
    };
    row("shard 0", {"--shard=0/4"}, "--shard: \"0/4\" is not a shard such as 2/4");
    row("shard 5 of 4", {"--shard=5/4"}, "--shard: \"5/4\"");
    row("no shard", {"--shard=2"}, "--shard: \"2\"");
    row("no workers", {"--workers=0"}, "--workers");
    row("merging nothing", {"--merge", "/nowhere"}, "/nowhere is not a sweep's folder");
    row("merging a shard", {"--merge", "/nowhere", "--shard=1/2"}, "--shard excludes --merge");
    row("an unknown flag", {"--worker=2"}, "there is no flag --worker");
  }
  void badInputIsRefused() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, expected);
    const Finished finished = sweep(tiny_sweep(), arguments + QStringList{"--out", out("refused")});
    QCOMPARE(finished.code, 2);
    QCOMPARE(finished.complaints().size(), std::size_t{1});
    QVERIFY2(finished.err.contains(expected.toUtf8()), finished.err.constData());
  }

  void everyFaultOfAFileIsTold() {
    json broken = tiny_sweep();
    broken["grid"] = {{"task.ordr", {1}}, {"model.d_conv", {0}}};
    const Finished finished = sweep(broken, {"--out", out("broken")});
    QCOMPARE(finished.code, 2);
    QCOMPARE(finished.complaints().size(), std::size_t{2});
    QVERIFY2(finished.err.contains("json: grid.task.ordr: there is no such setting; did you mean task.order?"),
             finished.err.constData());
    QVERIFY(!fs::exists(path("broken")));
  }

 private:
  QString out(const QString& name) const { return folder_.filePath(name); }
  std::string path(const QString& name) const { return out(name).toStdString(); }
  QString file(const json& sweep) const {
    QString name = out("sweep-" + QString::number(std::hash<json>()(sweep)) + ".json");
    std::ofstream(name.toStdString()) << sweep.dump(2);
    return name;
  }
  Finished sweep(const json& document, const QStringList& arguments) const {
    return run_worker(QStringList{"sweep", file(document)} + arguments);
  }
  void results_are_equal(const QString& one, const QString& other) const {
    for (const char* name : {"/results.csv", "/results.json"}) {
      const std::string found = content(path(one) + name);
      QVERIFY(!found.empty());
      QVERIFY(found == content(path(other) + name));
    }
  }

  QTemporaryDir folder_;
};

QTEST_GUILESS_MAIN(SweepTest)
#include "sweep_test.moc"
