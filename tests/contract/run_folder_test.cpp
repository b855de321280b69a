#include "core/contract/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QFloat16>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "sentence.h"

using namespace mambarium;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

MetricsRow row(std::int64_t step, double gap) {
  MetricsRow made;
  made.step = step;
  made.gap_add_beta = gap;
  return made;
}

Manifest manifest(const std::string& started) {
  Manifest made;
  made.started = started;
  made.status = "finished";
  made.engine = "fused";
  made.step = 100;
  return made;
}

fs::path make_run(const fs::path& root, const std::string& name, const std::string& started) {
  const fs::path run = root / name;
  write(run / "experiment.json", to_json(ExperimentConfig()).dump(2));
  write(run / "manifest.json", json(manifest(started)).dump(2));
  write(run / "metrics.csv",
        metrics_header() + "\n" + to_csv_line(row(0, 0.4)) + "\n" + to_csv_line(row(50, 0.25)) + "\n");
  for (const std::int64_t step : {100, 50}) {
    write(checkpoint_path(run, step), "weights");
    write(state_path(run, step), "state");
  }
  return run;
}

}  // namespace

class RunFolderTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void aWholeFolderIsRead() {
    const fs::path run = make_run(root(), "a", "2026-11-29T12:00:00Z");
    const ReadRunFolder read = read_run_folder(run);
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
    QCOMPARE(read.run.rows.size(), std::size_t{2});
    QCOMPARE(read.run.rows[1].gap_add_beta, 0.25);
    QCOMPARE(read.run.checkpoints, (std::vector<std::int64_t>{50, 100}));
    QCOMPARE(read.run.manifest.status, std::string("finished"));
    QVERIFY(read.run.config == ExperimentConfig());
  }

  void eachMissingFileIsOneProblem() {
    for (const char* file : {"experiment.json", "manifest.json", "metrics.csv"}) {
      const fs::path run = make_run(root(), std::string("without ") + file, "");
      fs::remove(run / file);
      one_problem(run, file);
    }
    const ReadRunFolder absent = read_run_folder(root() / "absent");
    QCOMPARE(absent.problems.size(), std::size_t{1});
    QVERIFY(is_one_sentence(to_string(absent.problems[0])));

    const fs::path file = make_run(root(), "a file", "") / "experiment.json";
    const ReadRunFolder no_folder = read_run_folder(file);
    QCOMPARE(no_folder.problems.size(), std::size_t{1});
    QVERIFY(mentions(to_string(no_folder.problems[0]), file.string() + ": this is a file"));
  }

  void eachBrokenFileIsOneProblem() {
    const std::vector<std::pair<const char*, const char*>> broken = {{"experiment.json", "{\"task\": {\"or"},
                                                                     {"experiment.json", "{\"task\": {\"order\": 40}}"},
                                                                     {"experiment.json", ""},
                                                                     {"manifest.json", "{\"status\": 3}"},
                                                                     {"manifest.json", "[]"},
                                                                     {"manifest.json", "{\"step\": -4}"},
                                                                     {"manifest.json", "{\"parent\": \"a\"}"},
                                                                     {"manifest.json", "{\"status\": \"runn"},
                                                                     {"manifest.json", "{\"step\": 1e999}"},
                                                                     {"metrics.csv", "something else\n"},
                                                                     {"metrics.csv", "step,tokens\n1,2\n3,4\n"}};
    int number = 0;
    for (const auto& [file, content] : broken) {
      const fs::path run = make_run(root(), "broken" + std::to_string(number++), "");
      write(run / file, content);
      one_problem(run, file);
    }
    const fs::path run = make_run(root(), "a folder", "");
    fs::remove(run / "metrics.csv");
    fs::create_directory(run / "metrics.csv");
    one_problem(run, "metrics.csv");
  }

  void aLastLineCutByAPowerFailureIsNoProblem() {
    const fs::path run = make_run(root(), "a", "");
    std::ofstream(run / "metrics.csv", std::ios::app) << "100,819200,3.2,0.5";
    const ReadRunFolder read = read_run_folder(run);
    QVERIFY(read.problems.empty());
    QCOMPARE(read.run.rows.back().step, std::int64_t{50});
  }

  void aManifestMayLackFields() {
    const fs::path run = make_run(root(), "a", "");
    write(run / "manifest.json", "{\"status\": \"running\"}");
    const ReadRunFolder read = read_run_folder(run);
    QVERIFY(read.problems.empty());
    QCOMPARE(read.run.manifest.threads, std::int64_t{1});
  }

  void aRunThatNoProcessHoldsDoesNotRun() {
    const fs::path run = make_run(root(), "a", "");
    write(run / "manifest.json", "{\"status\": \"running\"}");
    QCOMPARE(read_run_folder(run).run.manifest.status, std::string("interrupted"));
    write(run / ".lock", "1");
    QCOMPARE(read_run_folder(run).run.manifest.status, std::string("interrupted"));
    const int lock = ::open((run / ".lock").c_str(), O_RDONLY);
    QCOMPARE(::flock(lock, LOCK_EX | LOCK_NB), 0);
    QCOMPARE(read_run_folder(run).run.manifest.status, std::string("running"));
    ::close(lock);
    QCOMPARE(read_run_folder(run).run.manifest.status, std::string("interrupted"));
    write(run / "manifest.json", "{\"status\": \"paused\"}");
    QCOMPARE(read_run_folder(run).run.manifest.status, std::string("paused"));
  }

  void aManifestComesBackTheSame() {
    const Manifest whole{"0.1.0", "abc", "1.13.1", "g++ 12",           "box", "cpu", "torch", 2, 3, 1498,
                         "s",     "u",   "failed", "the disk is full", 77};
    QCOMPARE(json(json(whole).get<Manifest>()), json(whole));
    QVERIFY(!json(whole).contains("parent"));
    Manifest forked = whole;
    forked.fork = {"2026-11-30-mamba2-k1-a3f9", "mamba2", 640, "conv none"};
    QVERIFY(json(forked).get<Manifest>().fork == forked.fork);
    QCOMPARE(json(forked)["parent_step"], 640);
    QVERIFY(!json(whole).contains("warm_up") && !json(whole).get<Manifest>().warm_up);
    Manifest warmed = whole;
    warmed.warm_up = WarmUpRecord{137.5, 0.5};
    QVERIFY(json(warmed).get<Manifest>().warm_up == warmed.warm_up);
  }

  void checkpointsNeedBothTheirFiles() {
    const fs::path run = make_run(root(), "a", "");
    fs::remove(state_path(run, 50));
    write(checkpoint_path(run, 1234567), "weights");
    write(state_path(run, 1234567), "state");
    write(run / "checkpoints" / "step-000150.safetensors.tmp", "cut");
    write(run / "checkpoints" / "step-12.safetensors", "by hand");
    write(run / "checkpoints" / "step-12.state", "by hand");
    write(run / "checkpoints" / "notes.txt", "hello");
    QCOMPARE(read_run_folder(run).run.checkpoints, (std::vector<std::int64_t>{100, 1234567}));
    QCOMPARE(checkpoint_path(run, 400).filename().string(), std::string("step-000400.safetensors"));
  }

  void listsAreNewestFirstAndLeaveOutBrokenRuns() {
    make_run(root(), "b", "2026-11-29T12:00:00Z");
    make_run(root(), "a", "2026-11-30T09:00:00Z");
    make_run(root(), "c", "2026-11-28T23:59:59Z");
    fs::remove(make_run(root(), "d", "2026-12-01T00:00:00Z") / "manifest.json");
    write(root() / "figure.pdf", "");
    fs::create_directories(root() / "empty");
    const auto runs = list_run_folders(root());
    QCOMPARE(runs.size(), std::size_t{3});
    QCOMPARE(runs[0].name + runs[1].name + runs[2].name, std::string("abc"));
    QCOMPARE(runs[0].gap_add_beta, 0.25);
    QCOMPARE(runs[0].steps, std::int64_t{2000});
    QCOMPARE(json(json(runs[0]).get<RunSummary>()), json(runs[0]));
    QVERIFY(list_run_folders(root() / "nowhere").empty());
  }

  void aRunWithoutEvaluationsHasNoGap() {
    const fs::path run = make_run(root(), "a", "");
    write(run / "metrics.csv", metrics_header() + "\n");
    const auto runs = list_run_folders(root());
    QVERIFY(std::isnan(runs.at(0).gap_add_beta));
    QVERIFY(std::isnan(json(runs[0]).get<RunSummary>().gap_add_beta));
  }

  // A part may change and what decides the sequences, the test set or the sizes may not, setting by setting.
  void everySettingEitherForksOrIsRefused() {
    const std::set<std::string_view> of_training = {"training.batch", "training.first_length", "training.seed",
                                                    "training.test_sequences"};
    for (const Property& property : property_table()) {
      const bool kept = property.group == "Task" || property.group == "Model" || of_training.contains(property.key);
      QCOMPARE(may_change_in_fork(property), !kept);
    }
    ExperimentConfig parent, child;
    child.set("task.p_switch", 0.2);  // has no effect on plain chains
    QVERIFY(fork_problems(parent, child, 0).empty());
    QCOMPARE(changes_text(parent, child), std::string("unchanged"));
    child.set("task.kind", std::string("switching"));
    child.set("model.d_model", std::int64_t{16});
    child.set("training.steps", std::int64_t{640});
    const std::vector<Problem> problems = fork_problems(parent, child, 640);
    QCOMPARE(problems.size(), std::size_t{4});
    for (const Problem& problem : problems) QVERIFY2(is_one_sentence(to_string(problem)), to_string(problem).c_str());
    QVERIFY(fork_problems(parent, parent, 1999).empty());
  }

  void titlesTellRunsApart() {
    ExperimentConfig config;
    QCOMPARE(run_title(config), std::string("mamba2 \u00b7 order 1 \u00b7 w=2 \u00b7 seed 0"));
    config.set("model.conv", std::string("none"));
    config.set("model.gate", false);
    QCOMPARE(run_title(config),
             std::string("mamba2 \u00b7 order 1 \u00b7 no convolution \u00b7 no gate \u00b7 seed 0"));
    const Fork fork{"a", run_title(ExperimentConfig()), 640, changes_text(ExperimentConfig(), config)};
    QCOMPARE(run_title(config, fork),
             std::string("conv none, gate off, from step 640 of mamba2 \u00b7 order 1 \u00b7 w=2 \u00b7 seed 0"));
    config.set("model.kind", std::string("transformer"));
    config.set("model.attention", std::string("linear"));
    QCOMPARE(run_title(config), std::string("transformer \u00b7 order 1 \u00b7 linear attention \u00b7 seed 0"));
    config.set("model.conv_qkv", std::string("Q,K"));
    QCOMPARE(run_title(config), std::string("transformer \u00b7 order 1 \u00b7 w=2 \u00b7 convolution on Q,K \u00b7 "
                                            "linear attention \u00b7 seed 0"));
  }

 private:
  fs::path root() const { return folder_->path().toStdString(); }

  void one_problem(const fs::path& run, const char* file) {
    const ReadRunFolder read = read_run_folder(run);
    QVERIFY2(read.problems.size() == 1, to_string(read.problems).c_str());
    const std::string sentence = to_string(read.problems[0]);
    QVERIFY2(is_one_sentence(sentence) && mentions(sentence, (run / file).string()), sentence.c_str());
    QVERIFY(read.run.checkpoints.size() == 2);
  }

  std::unique_ptr<QTemporaryDir> folder_;
};

QTEST_APPLESS_MAIN(RunFolderTest)
#include "run_folder_test.moc"
