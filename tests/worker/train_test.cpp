#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "../contract/sentence.h"
#include "core/contract/run_folder.h"
#include "worker_process.h"

using namespace mambarium;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t small_run_steps = 200;

// A `train` that prints its evaluations as they are on disk, to be interrupted.
class Training {
 public:
  explicit Training(const QStringList& arguments) {
    process.start(MAMBARIUM_BIN_DIR "/mambarium-worker", arguments);
    process.waitForStarted();
  }
  ~Training() {
    process.kill();
    process.waitForFinished();
  }

  // Reads until so many evaluations were told, or the end. Returns how many were.
  std::size_t told(std::size_t at_least) {
    while (steps.size() < at_least && (process.canReadLine() || process.waitForReadyRead(30000))) take_lines();
    return steps.size();
  }
  bool signal(int number) { return send_signal(process, number); }
  int end() {
    process.waitForFinished(30000);
    take_lines();
    return process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
  }

  QProcess process;
  std::vector<std::int64_t> steps;  // of the evaluations that were told

 private:
  void take_lines() {
    while (process.canReadLine()) {
      const QByteArray line = process.readLine();
      if (line.startsWith("step ")) steps.push_back(line.split(' ')[1].toLongLong());
    }
  }
};

std::string last_checkpoint(const std::string& folder) {
  return checkpoint_path(folder, small_run_steps).string();
}

}  // namespace

class TrainTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    const Finished finished = run_worker(small_run(out("whole")));
    QVERIFY2(finished.code == 0, finished.err.constData());
    whole_ = only_run_in(out("whole"));
    QVERIFY(!whole_.empty());
    QVERIFY2(finished.out.contains(whole_.c_str()), "it says where the run lies");
    QCOMPARE(finished.out.count("\nstep "), 11);
  }

  void aRunIsAWholeFolder() {
    const ReadRunFolder read = read_run_folder(whole_);
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
    QCOMPARE(read.run.rows.size(), std::size_t{11});
    QCOMPARE(read.run.checkpoints, (std::vector<std::int64_t>{0, 50, 100, 150, 200}));
    QCOMPARE(read.run.manifest.status, std::string("finished"));
    QCOMPARE(read.run.config.integer("task.length"), std::int64_t{32});
    QVERIFY(read.run.rows.back().test_loss < read.run.rows.front().test_loss);
  }

  void equalRunsAreEqualByteForByte() {
    const Finished finished = run_worker(small_run(out("again"), {"--quiet"}));
    QCOMPARE(finished.code, 0);
    const std::string again = only_run_in(out("again"));
    QCOMPARE(finished.out.trimmed().toStdString(), again);
    QCOMPARE(metrics_without_seconds(again), metrics_without_seconds(whole_));
    QVERIFY(content(last_checkpoint(again)) == content(last_checkpoint(whole_)));
  }

  void theShareStringAndTheFileMakeTheSameRun() {
    const QStringList from_file = {"train", "--quiet", "--config", QString::fromStdString(whole_ + "/experiment.json"),
                                   "--run.out=" + out("file")};
    QCOMPARE(run_worker(from_file).code, 0);
    const auto config = read_run_folder(whole_).run.config;
    const QStringList from_share = {"train", "--quiet", "--share", QString::fromStdString(share_string(config)),
                                    "--run.out=" + out("share")};
    QCOMPARE(run_worker(from_share).code, 0);
    for (const char* name : {"file", "share"})
      QVERIFY(content(last_checkpoint(only_run_in(out(name)))) == content(last_checkpoint(whole_)));
  }

  void anInterruptedRunGoesOnByteForByte_data() {
    QTest::addColumn<int>("number");
    QTest::newRow("SIGINT") << SIGINT;
    QTest::newRow("SIGTERM") << SIGTERM;
  }
  void anInterruptedRunGoesOnByteForByte() {
    QFETCH(int, number);
    // On a busy machine the short run may be at its end before it is told to stop: then another one.
    QString root;
    int code = 0;
    for (int time = 0; code == 0 && time < 20; ++time) {
      root = out(QTest::currentDataTag()) + QString::number(time);
      Training training(small_run(root));
      QVERIFY(training.told(3) >= 3);
      training.signal(number);
      code = training.end();
    }
    QCOMPARE(code, 130);
    const std::string folder = only_run_in(root);
    const ReadRunFolder read = read_run_folder(folder);
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
    QCOMPARE(read.run.manifest.status, std::string("paused"));
    QVERIFY(read.run.manifest.step < small_run_steps);
    QCOMPARE(read.run.checkpoints.back(), read.run.manifest.step);
    goes_on_to_the_same_end(folder);
  }

  // A terminal that closes sends SIGHUP more than once.
  void twoHangUpsAreOneInterruption() {
    const QString root = out("hang-up");
    Training training(small_run(root, {"--training.steps=1000000"}));
    QVERIFY(training.told(3) >= 3);
    for (int time = 0; time < 3; ++time) training.signal(SIGHUP);
    QCOMPARE(training.end(), 130);
    const ReadRunFolder read = read_run_folder(only_run_in(root));
    QCOMPARE(read.run.manifest.status, std::string("paused"));
    QCOMPARE(read.run.checkpoints.back(), read.run.manifest.step);
  }

  // train | head
  void aReaderThatLeavesIsAnInterruption() {
    const QString root = out("no reader");
    const QStringList words = small_run(root, {"--training.steps=1000000"});
    QProcess shell;
    const QString script = "set -o pipefail; \"$@\" | head -n 3";
    shell.start("bash", QStringList{"-c", script, "bash", MAMBARIUM_BIN_DIR "/mambarium-worker"} + words);
    QVERIFY(shell.waitForFinished(60000));
    QCOMPARE(shell.exitCode(), 130);
    const ReadRunFolder read = read_run_folder(only_run_in(root));
    QCOMPARE(read.run.manifest.status, std::string("paused"));
    QCOMPARE(read.run.checkpoints.back(), read.run.manifest.step);
  }

  void killsLoseNoFinishedEvaluation() {
    const QString root = out("killed");
    std::mt19937 random(5);
    // So many steps that ten kills, each late on a busy machine, do not come near the end.
    const QStringList many_steps = {"--training.steps=5000", "--training.checkpoint_every=100"};
    QStringList arguments = small_run(root, many_steps);
    std::size_t evaluations = 0;
    for (int kill = 0; kill < 10; ++kill) {
      Training training(arguments);
      training.told(1 + random() % 4);
      QTest::qSleep(static_cast<int>(random() % 50));
      QVERIFY(training.signal(SIGKILL));
      training.end();
      const std::string folder = only_run_in(root);
      QVERIFY(!folder.empty());
      const ReadRunFolder read = read_run_folder(folder);
      QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
      for (const std::int64_t step : training.steps)
        QVERIFY2(std::ranges::count(read.run.rows, step, &MetricsRow::step) == 1, "a told evaluation is on disk");
      QVERIFY(read.run.rows.size() >= evaluations);
      evaluations = read.run.rows.size();
      arguments = QStringList{"train", "--resume", QString::fromStdString(folder)};
    }
    QCOMPARE(read_run_folder(only_run_in(root)).run.manifest.status, std::string("interrupted"));
    QVERIFY2(run_worker(arguments).code == 0, "ten times killed, it still comes to its end");
    const Finished uninterrupted = run_worker(small_run(out("unkilled"), many_steps + QStringList{"--quiet"}));
    QCOMPARE(uninterrupted.code, 0);
    QCOMPARE(metrics_without_seconds(only_run_in(root)), metrics_without_seconds(only_run_in(out("unkilled"))));
    QVERIFY(content(checkpoint_path(only_run_in(root), 5000)) ==
            content(checkpoint_path(only_run_in(out("unkilled")), 5000)));
  }

  void aTruncatedCheckpointIsPassedOver() {
    const std::string folder = copy_of_whole("truncated");
    fs::resize_file(last_checkpoint(folder), 100);
    const Finished evaluated = run_worker({"evaluate", QString::fromStdString(folder)});
    one_complaint(evaluated, 2, "step-000200.safetensors");
    const Finished resumed = run_worker({"train", "--resume", QString::fromStdString(folder)});
    QVERIFY2(resumed.code == 0, resumed.err.constData());
    QVERIFY2(resumed.err.contains("step-000200.safetensors"), resumed.err.constData());
    QVERIFY(content(last_checkpoint(folder)) == content(last_checkpoint(whole_)));
    QCOMPARE(metrics_without_seconds(folder), metrics_without_seconds(whole_));
  }

  void missingCheckpointsAreOneSentence() {
    const QString run = QString::fromStdString(whole_);
    one_complaint(run_worker({"evaluate", run, "--at", "137"}), 2, "choose one of 0, 50, 100, 150, 200");
    one_complaint(run_worker({"inspect", run, "--what", "decay", "--at", "7"}), 2, "no checkpoint of step 7");
    one_complaint(run_worker({"predict", "--run", run + "/checkpoints/step-000137.safetensors", "--tokens=0"}), 2,
                  "step-000137.safetensors");
    const std::string folder = copy_of_whole("no checkpoints");
    fs::remove_all(fs::path(folder) / "checkpoints");
    one_complaint(run_worker({"evaluate", QString::fromStdString(folder)}), 2, "no checkpoint");
    const Finished resumed = run_worker({"train", "--resume", QString::fromStdString(folder)});
    QVERIFY(resumed.code == 1 && resumed.err.contains("no checkpoint that can be read"));
  }

  void aBrokenRunFolderIsOneSentence() {
    const std::string folder = copy_of_whole("broken");
    std::ofstream(folder + "/experiment.json") << "{\"task\": ";
    one_complaint(run_worker({"train", "--resume", QString::fromStdString(folder)}), 2, "experiment.json");
    one_complaint(run_worker({"inspect", QString::fromStdString(folder), "--what=filters"}), 2, "experiment.json");
  }

  void aForkGoesOnFromACheckpoint() {
    const QString run = QString::fromStdString(whole_);
    const QStringList fork = {"train", "--quiet", "--run.out=" + out("fork"), "--model.conv", "none", "--fork"};
    const Finished finished = run_worker(fork + QStringList{run + "@150"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    const RunFolder forked = read_run_folder(only_run_in(out("fork"))).run;
    QCOMPARE(forked.rows.front().step, std::int64_t{150});
    QCOMPARE(forked.checkpoints, (std::vector<std::int64_t>{150, 200}));
    QVERIFY(forked.manifest.fork && forked.manifest.fork->changes == "conv none");
    QCOMPARE(forked.config.integer("task.length"), std::int64_t{32});
    one_complaint(run_worker(fork + QStringList{run}), 2, "training.steps");
    one_complaint(run_worker(fork + QStringList{run + "@137"}), 2, "choose one of 0, 50, 100, 150, 200");
    one_complaint(run_worker(fork + QStringList{run + "@soon"}), 2, "not a step");
    one_complaint(run_worker(fork + QStringList{run + "@50", "--task.states=3"}), 2, "task.states");
    one_complaint(run_worker(fork + QStringList{run + "@50", "--preset=order1"}), 2, "--preset");
    one_complaint(run_worker(fork + QStringList{out("nothing") + "@50"}), 2, "nothing");
    QCOMPARE(run_worker(fork + QStringList{run + "@50", "--resume", run}).code, 2);
  }

  void aFinishedRunIsEvaluated() {
    const Finished as_json = run_worker({"evaluate", QString::fromStdString(whole_), "--json"});
    QVERIFY2(as_json.code == 0, as_json.err.constData());
    const json document = json::parse(as_json.out.toStdString());
    const MetricsRow last = read_run_folder(whole_).run.rows.back();
    QCOMPARE(document["step"], small_run_steps);
    QVERIFY(std::abs(document["model"]["mean"].get<double>() - last.test_loss) < 1e-6);
    QVERIFY(std::abs(document["add_beta"]["mean"].get<double>() - last.add_beta_loss) < 1e-9);
    QVERIFY(std::abs(document["oracle"]["mean"].get<double>() - last.oracle_loss) < 1e-9);
    QVERIFY(std::abs(document["gap_add_beta"]["mean"].get<double>() - last.gap_add_beta) < 1e-6);
    QVERIFY(document["gap_add_beta"]["standard_error"].get<double>() > 0);
    const QString file = QString::fromStdString(checkpoint_path(whole_, 50).string());
    const Finished text = run_worker({"evaluate", file});
    QCOMPARE(text.code, 0);
    QVERIFY(text.out.contains("step 50\n") && text.out.contains("gap to add-1"));
    QCOMPARE(run_worker({"evaluate", QString::fromStdString(whole_), "--at=50"}).out, text.out);
  }

  void inspectPrintsWhatPanelsGet() {
    const QString run = QString::fromStdString(whole_);
    const auto printed = [&](const QStringList& more) {
      const Finished finished = run_worker(QStringList{"inspect", run} + more);
      return json::parse(finished.code == 0 ? finished.out.toStdString() : "null");
    };
    const auto decay = printed({"--what=decay", "--probe=3"}).get<DecayData>();
    QCOMPARE(decay.tokens.size(), std::size_t{32});
    QCOMPARE(decay.decay.shape, (std::vector<std::int64_t>{1, 1, 32}));
    const auto filters = printed({"--what=filters", "--at=100"}).get<FilterData>();
    QCOMPARE(filters.step, std::int64_t{100});
    QCOMPARE(filters.layers.at(0).at(0).taps.shape, (std::vector<std::int64_t>{16, 2}));
    const auto prediction = printed({"--what=prediction"}).get<PredictionData>();
    QCOMPARE(prediction.model.shape, (std::vector<std::int64_t>{32, 2}));
    one_complaint(run_worker({"inspect", run, "--what=dreams"}), 2, "decay, filters, prediction");
    one_complaint(run_worker({"inspect", run, "--what=decay", "--probe=8"}), 2, "there are 0 to 7");
  }

  void aTrainedModelPredicts() {
    const Finished finished =
        run_worker({"predict", "--run", QString::fromStdString(whole_), "--format=json", "--tokens=0,1,1,0,1"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    const json rows = json::parse(finished.out.toStdString())[0]["probabilities"];
    QCOMPARE(rows.size(), std::size_t{5});
    for (const json& row : rows) QVERIFY(std::abs(row[0].get<double>() + row[1].get<double>() - 1) < 1e-5);
  }

  void twoProcessesDoNotShareAFolder() {
    const QString root = out("shared");
    Training first(small_run(root, {"--training.steps=100000"}));
    QVERIFY(first.told(2) >= 2);
    const std::string folder = only_run_in(root);
    const Finished second = run_worker({"train", "--resume", QString::fromStdString(folder)});
    QCOMPARE(second.code, 1);
    QVERIFY2(second.err.contains("in use"), second.err.constData());
    QCOMPARE(read_run_folder(folder).run.manifest.status, std::string("running"));
    QVERIFY(first.signal(SIGINT));
    QCOMPARE(first.end(), 130);
  }

  void aLossThatIsNotFiniteStopsTheRun() {
    const Finished finished = run_worker(small_run(out("nan"), diverging()));
    QCOMPARE(finished.code, 1);
    QVERIFY2(finished.err.contains("step "), finished.err.constData());
    const ReadRunFolder read = read_run_folder(only_run_in(out("nan")));
    QVERIFY(read.problems.empty());
    QCOMPARE(read.run.manifest.status, std::string("failed"));
    QVERIFY(!read.run.manifest.exit_reason.empty());
  }

  void aFileOfSymbolsIsATask() {
    const std::string path = out("days.csv").toStdString();
    std::ofstream file(path);
    for (int day = 0; day < 3000; ++day) file << (day % 3 == 0 ? "rain\n" : "sun,");
    file.close();
    const QStringList task = {"--task.kind=file", "--task.symbols=words",
                              "--task.file=" + QString::fromStdString(path)};
    const Finished trained = run_worker(small_run(out("symbols"), task + QStringList{"--quiet"}));
    QVERIFY2(trained.code == 0, trained.err.constData());
    const ReadRunFolder read = read_run_folder(only_run_in(out("symbols")));
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
    // Two thirds of the days nobody can foretell better than by a coin, and the estimator has to count first.
    QVERIFY(std::abs(read.run.rows.back().oracle_loss - 2.0 / 3 * std::log(2.0)) < 0.02);
    QVERIFY(read.run.rows.back().gap_oracle < read.run.rows.front().gap_oracle / 2);

    one_complaint(run_worker(small_run(out("symbols"), task + QStringList{"--task.states=3"})), 2,
                  "so the states must be 2, not 3");
    one_complaint(run_worker(small_run(out("symbols"), {"--task.kind=file", "--task.file=nowhere.txt"})), 2,
                  "nowhere.txt: there is no file");
  }

 public:
  static QStringList diverging() {
    return {"--training.lr=10", "--training.clip=0", "--training.schedule=constant", "--model.norm=none",
            "--model.layers=4"};
  }

 private:
  QString out(const char* name) { return folder_.filePath(name); }

  std::string copy_of_whole(const char* name) {
    const fs::path copy = fs::path(out(name).toStdString()) / "run";
    fs::create_directories(copy.parent_path());
    fs::copy(whole_, copy, fs::copy_options::recursive);
    return copy.string();
  }

  void goes_on_to_the_same_end(const std::string& folder) {
    const Finished finished = run_worker({"train", "--quiet", "--resume", QString::fromStdString(folder)});
    QVERIFY2(finished.code == 0, finished.err.constData());
    QCOMPARE(metrics_without_seconds(folder), metrics_without_seconds(whole_));
    QVERIFY(content(last_checkpoint(folder)) == content(last_checkpoint(whole_)));
  }

  static void one_complaint(const Finished& finished, int code, const char* says) {
    QCOMPARE(finished.code, code);
    QVERIFY2(finished.out.isEmpty() && finished.complaints().size() == 1, finished.err.constData());
    QVERIFY2(is_one_sentence(finished.complaints()[0]) && mentions(finished.complaints()[0], says),
             finished.err.constData());
  }

  QTemporaryDir folder_;
  std::string whole_;
};

QTEST_GUILESS_MAIN(TrainTest)
#include "train_test.moc"
