#include <sys/resource.h>

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "../contract/sentence.h"
#include "worker_process.h"

using namespace mambarium;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes frame_of(const Bytes& body) {
  Bytes frame;
  for (unsigned byte = 0; byte < 4; ++byte) frame.push_back(static_cast<std::uint8_t>(body.size() >> (8 * byte)));
  for (const std::uint8_t byte : body) frame.push_back(byte);
  return frame;
}

json with(json config, const char* section, const char* name, json value) {
  config[section][name] = std::move(value);
  return config;
}

bool is_clear(const ErrorReport& error) {
  return is_one_sentence(error.message) && (error.hint.empty() || is_one_sentence(error.hint));
}

}  // namespace

class ServeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void aWholeConversation() {
    Conversation worker;
    worker.send(HelloRequest{protocol_version, "test", "0"});
    const auto hello = worker.next_of<HelloReport>();
    QVERIFY(hello && hello->protocol == protocol_version && hello->program == "mambarium-worker");
    worker.send(OpenConfig{small_config(out())});
    const auto opened = worker.next_of<OpenedReport>();
    QVERIFY(opened);
    QCOMPARE(opened->generation, std::int64_t{1});
    QCOMPARE(opened->step, std::int64_t{0});
    QCOMPARE(opened->rows.size(), std::size_t{1});
    QCOMPARE(opened->config.integer("task.length"), std::int64_t{32});
    QVERIFY(worker.until(RunState::paused));
    worker.passed.clear();
    worker.send(StartRequest{});
    QVERIFY(worker.until(RunState::running));
    const auto end = worker.until(RunState::finished);
    QVERIFY(end && end->step == 200 && end->generation == 1);
    std::vector<std::int64_t> rows, checkpoints;
    for (const Report& report : worker.passed) {
      const auto* metrics = std::get_if<MetricsReport>(&report);
      if (metrics == nullptr) continue;
      QCOMPARE(metrics->generation, std::int64_t{1});
      for (const MetricsRow& row : metrics->rows) rows.push_back(row.step);
      for (const std::int64_t step : metrics->checkpoints) checkpoints.push_back(step);
    }
    QCOMPARE(rows, (std::vector<std::int64_t>{20, 40, 60, 80, 100, 120, 140, 160, 180, 200}));
    QCOMPARE(checkpoints, (std::vector<std::int64_t>{50, 100, 150, 200}));
    worker.send(CloseRequest{});
    QCOMPARE(worker.finish(), 0);
  }

  void theWindowComesFirst() {
    Conversation worker;
    worker.greet();
    QCOMPARE(::getpriority(PRIO_PROCESS, static_cast<id_t>(worker.process().processId())),
             std::min(::getpriority(PRIO_PROCESS, 0) + 5, 19));
  }

  // Stopped at step 137 and gone on with in another process, the run ends as the uninterrupted one does.
  void stoppedAtStep137AndResumedByteForByte() {
    QCOMPARE(run_worker(small_run(out("whole"))).code, 0);
    Conversation first;
    first.greet();
    first.send(OpenConfig{small_config(out("parts"))});
    first.send(StepRequest{137});
    const auto folder = first.next_of<OpenedReport>()->folder;
    QVERIFY(first.until(RunState::paused));
    QCOMPARE(first.until(RunState::paused)->step, std::int64_t{137});
    first.close_input();
    QCOMPARE(first.finish(), 0);
    Conversation second;
    second.greet();
    second.send(OpenFolder{folder});
    const auto opened = second.next_of<OpenedReport>();
    QCOMPARE(opened->step, std::int64_t{137});
    QCOMPARE(opened->checkpoints, (std::vector<std::int64_t>{0, 50, 100, 137}));
    second.send(StartRequest{});
    QVERIFY(second.until(RunState::finished));
    const std::string whole = only_run_in(out("whole"));
    QCOMPARE(metrics_without_seconds(folder), metrics_without_seconds(whole));
    QVERIFY(content(checkpoint_path(folder, 200)) == content(checkpoint_path(whole, 200)));
  }

  void aRunInspectedAllTheTimeEndsTheSame() {
    QCOMPARE(run_worker(small_run(out("whole"))).code, 0);
    Conversation worker;
    worker.greet();
    worker.send(OpenConfig{small_config(out("watched"))});
    const std::string folder = worker.next_of<OpenedReport>()->folder;
    worker.send(StepRequest{60});
    worker.send(InspectMessage{1, {"decay", 2, std::nullopt}});
    worker.send(InspectMessage{2, {"filters", 0, 0}});
    worker.send(StartRequest{});
    for (std::int64_t id = 3; id < 30; ++id)
      worker.send(InspectMessage{id,
                                 {id % 2 == 0 ? "prediction" : "decay", id % probe_count,
                                  id % 3 == 0 ? std::optional<std::int64_t>(0) : std::nullopt}});
    for (std::int64_t id = 1; id < 30; ++id) {
      const auto answer = worker.next_of<InspectedReport>();
      QVERIFY(answer && answer->id == id && answer->generation == 1);
      if (answer->what == "decay") QCOMPARE(answer->data.get<DecayData>().decay.shape[2], 32);
      if (answer->what == "prediction") QCOMPARE(answer->data.get<PredictionData>().model.shape[1], 2);
    }
    QVERIFY(worker.until(RunState::finished));
    const std::string whole = only_run_in(out("whole"));
    QCOMPARE(metrics_without_seconds(folder), metrics_without_seconds(whole));
    QVERIFY(content(checkpoint_path(folder, 200)) == content(checkpoint_path(whole, 200)));
  }

  void checkpointsAreInspectedAsTheyWere() {
    Conversation worker;
    worker.greet();
    worker.send(OpenConfig{small_config(out())});
    worker.send(InspectMessage{1, {"filters", 0, std::nullopt}});
    worker.send(StartRequest{});
    QVERIFY(worker.until(RunState::finished));
    worker.send(InspectMessage{2, {"filters", 0, 0}});
    worker.send(InspectMessage{3, {"filters", 0, std::nullopt}});
    worker.send(InspectMessage{4, {"filters", 0, 200}});
    std::map<std::int64_t, json> answers;
    for (Report& report : worker.passed)
      if (auto* answer = std::get_if<InspectedReport>(&report)) answers[answer->id] = answer->data;
    for (int count = 0; count < 3; ++count) {
      const auto answer = worker.next_of<InspectedReport>();
      QVERIFY(answer);
      answers[answer->id] = answer->data;
    }
    QCOMPARE(answers.size(), std::size_t{4});
    QCOMPARE(answers[2], answers[1]);
    QCOMPARE(answers[4], answers[3]);
    QVERIFY(answers[3]["layers"] != answers[1]["layers"]);
  }

  void faultyFramesAreAnsweredAndTheWorkerLivesOn_data() {
    QTest::addColumn<QByteArray>("body");
    const auto row = [](const char* name, const Bytes& body) {
      QTest::newRow(name) << QByteArray(reinterpret_cast<const char*>(body.data()),
                                        static_cast<qsizetype>(body.size()));
    };
    row("not cbor", {0xff, 0xfe});
    row("text", {'h', 'e', 'l', 'l', 'o'});
    row("a list", json::to_cbor(json::array({1})));
    row("no type", json::to_cbor({{"kind", "start"}}));
    row("type is a number", json::to_cbor({{"type", 1}}));
    row("unknown type", json::to_cbor({{"type", "dance"}}));
    row("missing field", json::to_cbor({{"type", "step"}}));
    row("mistyped field", json::to_cbor({{"type", "step"}, {"count", "three"}}));
    row("out of range", json::to_cbor({{"type", "step"}, {"count", 0}}));
    row("a million brackets", Bytes(1000000, 0x81));
    row("cut map", {0xa1, 0x64, 't', 'y', 'p', 'e'});
    row("not utf-8", {0xa1, 0x64, 't', 'y', 'p', 'e', 0x61, 0xff});
  }
  void faultyFramesAreAnsweredAndTheWorkerLivesOn() {
    QFETCH(QByteArray, body);
    Conversation worker;
    worker.greet();
    worker.send_bytes(frame_of(Bytes(body.begin(), body.end())));
    const auto error = worker.next_of<ErrorReport>();
    QVERIFY(error && is_clear(*error) && !error->fatal);
    worker.send(ListRunsRequest{5, out().toStdString()});
    const auto runs = worker.next_of<RunsReport>();
    QVERIFY(runs && runs->id == 5 && runs->runs.empty());
    worker.send(CloseRequest{});
    QCOMPARE(worker.finish(), 0);
  }

  void aBrokenStreamEndsTheWorkerAfterACheckpoint_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("length 0") << QByteArray("\0\0\0\0", 4);
    QTest::newRow("length 4 GiB") << QByteArray("\xff\xff\xff\xff", 4);
    QTest::newRow("text") << QByteArray("hello, worker\n");
    QTest::newRow("cut frame") << QByteArray("\x10\0\0\0abc", 7);
  }
  void aBrokenStreamEndsTheWorkerAfterACheckpoint() {
    QFETCH(QByteArray, bytes);
    Conversation worker;
    worker.greet();
    worker.send(OpenConfig{small_config(out())});
    worker.send(StepRequest{7});
    const auto opened = worker.next_of<OpenedReport>();
    QVERIFY(worker.until(RunState::paused) && worker.until(RunState::paused));
    worker.send_bytes(Bytes(bytes.begin(), bytes.end()));
    worker.close_input();
    QCOMPARE(worker.finish(), 2);
    const std::string last_line = worker.log().trimmed().split('\n').last().toStdString();
    QVERIFY2(is_one_sentence(last_line) && last_line.starts_with("mambarium-worker: "), last_line.c_str());
    QCOMPARE(read_run_folder(opened->folder).run.checkpoints.back(), std::int64_t{7});
  }

  void theWindowGoesAwayAndTheRunIsKept() {
    Conversation worker;
    worker.greet();
    worker.send(OpenConfig{with(small_config(out()), "training", "steps", 100000000)});
    worker.send(StartRequest{});
    const auto opened = worker.next_of<OpenedReport>();
    QVERIFY(worker.next_of<MetricsReport>());
    worker.close_input();
    QCOMPARE(worker.finish(), 0);
    const ReadRunFolder read = read_run_folder(opened->folder);
    QVERIFY(read.problems.empty());
    QCOMPARE(read.run.manifest.status, std::string("paused"));
    QCOMPARE(read.run.checkpoints.back(), read.run.manifest.step);
  }

  void aSignalEndsItWith130AfterACheckpoint() {
    Conversation worker;
    worker.greet();
    worker.send(OpenConfig{with(small_config(out()), "training", "steps", 100000000)});
    worker.send(StartRequest{});
    const auto opened = worker.next_of<OpenedReport>();
    QVERIFY(worker.next_of<MetricsReport>());
    QVERIFY(send_signal(worker.process(), SIGTERM));
    QCOMPARE(worker.finish(), 130);
    const ReadRunFolder read = read_run_folder(opened->folder);
    QCOMPARE(read.run.checkpoints.back(), read.run.manifest.step);
  }

  void anotherProtocolVersionIsRefused() {
    Conversation worker;
    worker.send(HelloRequest{protocol_version + 1, "mambarium", "9"});
    const auto error = worker.next_of<ErrorReport>();
    QVERIFY(error && error->fatal && is_clear(*error) && mentions(error->message, "version 2"));
    QCOMPARE(worker.finish(), 2);
  }

  void requestsThatCannotBeFulfilledAreOneSentenceEach() {
    Conversation worker;
    worker.send(StartRequest{});
    QVERIFY(mentions(worker.next_of<ErrorReport>()->message, "before the greeting"));
    worker.greet();
    const std::vector<Request> nothing_open = {StartRequest{}, PauseRequest{}, StepRequest{1}, CheckpointRequest{},
                                               InspectMessage{4, {"decay", 0, std::nullopt}}};
    for (const Request& request : nothing_open) {
      worker.send(request);
      const auto error = worker.next_of<ErrorReport>();
      QVERIFY(error && is_clear(*error) && mentions(error->message, "no experiment is open"));
    }
    worker.send(OpenConfig{{{"task", {{"order", 0}}}, {"model", {{"headdim", 5}}}}});
    auto error = worker.next_of<ErrorReport>();
    QVERIFY(error && mentions(error->message, "task.order") && mentions(error->message, "model.headdim"));
    if (!worker_has_gpu()) {
      worker.send(OpenConfig{with(small_config(out()), "run", "device", "cuda")});
      QVERIFY(mentions(worker.next_of<ErrorReport>()->message, "cuda is not usable"));
    }
    worker.send(OpenFolder{"/nowhere"});
    QVERIFY(mentions(worker.next_of<ErrorReport>()->message, "/nowhere"));
    worker.send(ReadRunRequest{12, "/nowhere"});
    error = worker.next_of<ErrorReport>();
    QVERIFY(error && is_clear(*error) && error->id == 12);
    worker.send(OpenConfig{small_config(out())});
    QVERIFY(worker.next_of<OpenedReport>());
    const std::vector<InspectRequest> bad = {
        {"dreams", 0, std::nullopt}, {"decay", 8, std::nullopt}, {"decay", 0, 137}};
    for (std::size_t id = 0; id < bad.size(); ++id) {
      worker.send(InspectMessage{static_cast<std::int64_t>(id), bad[id]});
      error = worker.next_of<ErrorReport>();
      QVERIFY2(error && is_clear(*error) && error->id == static_cast<std::int64_t>(id), error->message.c_str());
    }
    worker.send(CloseRequest{});
    QCOMPARE(worker.finish(), 0);
  }

  void eachExperimentIsANewGeneration() {
    Conversation worker;
    worker.greet();
    worker.send(OpenConfig{small_config(out("first"))});
    worker.send(StepRequest{10});
    const auto first = worker.next_of<OpenedReport>();
    QVERIFY(worker.until(RunState::paused) && worker.until(RunState::paused));
    worker.send(OpenConfig{small_config(out("second"))});
    const auto second = worker.next_of<OpenedReport>();
    QCOMPARE(second->generation, std::int64_t{2});
    QVERIFY(second->folder != first->folder);
    worker.send(OpenConfig{{{"task", {{"order", 0}}}}});
    QVERIFY(worker.next_of<ErrorReport>());
    worker.send(StepRequest{3});
    const auto stepped = worker.until(RunState::paused);
    QVERIFY2(stepped->generation == 2 && stepped->step == 3, "a configuration that cannot be opened changes nothing");
    worker.send(OpenFolder{first->folder});
    const auto third = worker.next_of<OpenedReport>();
    QVERIFY(third->generation == 3 && third->step == 10 && third->folder == first->folder);
    worker.send(OpenFolder{first->folder});
    QVERIFY(worker.next_of<OpenedReport>()->generation == 4);
    worker.send(CloseRequest{});
    QCOMPARE(worker.finish(), 0);
    QCOMPARE(read_run_folder(second->folder).run.checkpoints.back(), std::int64_t{3});
  }

  void aRunIsForkedWhileAnotherWorkerTrainsIt() {
    Conversation first, second;
    first.greet();
    second.greet();
    first.send(OpenConfig{with(small_config(out()), "training", "steps", 100000000)});
    const std::string folder = first.next_of<OpenedReport>()->folder;
    first.send(StartRequest{});
    QVERIFY(first.next_of<MetricsReport>());
    first.send(CheckpointRequest{});
    std::int64_t step = 0;
    while (step == 0) {
      const auto metrics = first.next_of<MetricsReport>();
      QVERIFY(metrics);
      if (!metrics->checkpoints.empty()) step = metrics->checkpoints.back();
    }
    json config = with(small_config(out()), "training", "steps", step + 50);
    config["model"]["conv"] = "none";
    second.send(OpenFork{folder, step, config});
    const auto fork = second.next_of<OpenedReport>();
    QVERIFY(fork && fork->folder != folder);
    QCOMPARE(fork->step, step);
    QCOMPARE(fork->rows.size(), std::size_t{1});
    QCOMPARE(fork->rows[0].step, step);
    QCOMPARE(fork->checkpoints, std::vector<std::int64_t>{step});
    second.send(StartRequest{});
    const auto end = second.until(RunState::finished);
    QVERIFY(end && end->step == step + 50);
    second.send(ReadRunRequest{1, fork->folder});
    const auto run = second.next_of<RunReport>();
    QVERIFY(run && run->manifest.fork);
    QCOMPARE(run->manifest.fork->parent, fs::path(folder).filename().string());
    QVERIFY(mentions(run->manifest.fork->changes, "conv none"));
    second.send(ListRunsRequest{2, out().toStdString()});
    const auto runs = second.next_of<RunsReport>();
    QVERIFY(
        std::ranges::any_of(runs->runs, [](const RunSummary& known) { return known.title.starts_with("conv none"); }));
    for (Conversation* const worker : {&first, &second}) {
      worker->send(CloseRequest{});
      QCOMPARE(worker->finish(), 0);
    }
  }

  void forksThatCannotBeAreOneSentenceAndTheOpenRunStays() {
    Conversation worker;
    worker.greet();
    worker.send(OpenConfig{small_config(out())});
    const std::string folder = worker.next_of<OpenedReport>()->folder;
    const std::vector<std::pair<OpenFork, const char*>> bad = {
        {{"/nowhere", 0, small_config(out())}, "/nowhere"},
        {{folder, 137, small_config(out())}, "no checkpoint of step 137"},
        {{folder, 0, with(small_config(out()), "task", "states", 3)}, "task.states"},
        {{folder, 0, with(small_config(out()), "model", "d_model", 16)}, "model.d_model"},
        {{folder, 0, with(small_config(out()), "training", "batch", 16)}, "training.batch"},
        {{folder, 0, with(small_config(out()), "model", "conv", "everything")}, "model.conv"},
        {{folder, 200, small_config(out())}, "training.steps"}};
    for (const auto& [request, says] : bad) {
      worker.send(request);
      const auto error = worker.next_of<ErrorReport>();
      QVERIFY2(error && is_clear(*error) && !error->fatal && mentions(error->message, says), says);
    }
    worker.send(StepRequest{3});
    const auto stepped = worker.until(RunState::paused);
    QVERIFY(stepped && stepped->generation == 1);
    worker.send(CloseRequest{});
    QCOMPARE(worker.finish(), 0);
    QCOMPARE(only_run_in(out()), folder);
  }

  void runsAreListedAndRead() {
    QCOMPARE(run_worker(small_run(out("runs"), {"--training.steps=20"})).code, 0);
    Conversation worker;
    worker.greet();
    worker.send(ListRunsRequest{1, out("runs").toStdString()});
    const auto runs = worker.next_of<RunsReport>();
    QCOMPARE(runs->runs.size(), std::size_t{1});
    QCOMPARE(runs->runs[0].status, std::string("finished"));
    worker.send(ReadRunRequest{2, runs->runs[0].folder});
    const auto run = worker.next_of<RunReport>();
    QVERIFY(run && run->id == 2 && run->rows.size() == 2 && run->manifest.status == "finished");
    QCOMPARE(run->config.integer("training.steps"), std::int64_t{20});
  }

  void tempoSlowsTheRunDownAndSpeedsItUp() {
    Conversation worker;
    worker.greet();
    worker.send(OpenConfig{small_config(out())});
    worker.send(TempoRequest{20});
    QElapsedTimer timer;  // from before the start to after the tenth step: a busy machine only makes it longer
    timer.start();
    worker.send(StartRequest{});
    QVERIFY(worker.until(RunState::running));
    for (std::int64_t step = 0; step < 10;) {
      const auto metrics = worker.next_of<MetricsReport>();
      QVERIFY(metrics);
      step = metrics->step;
    }
    QVERIFY2(timer.elapsed() >= 400, "ten steps at twenty a second take about half a second");
    worker.send(TempoRequest{0});
    QVERIFY(worker.until(RunState::finished));
  }

  void metricsComeAtMostThirtyTimesASecond() {
    Conversation worker;
    worker.greet();
    worker.send(OpenConfig{with(small_config(out()), "training", "steps", 100000000)});
    QVERIFY(worker.until(RunState::paused));
    QElapsedTimer timer;  // from before the first report to after the last: a busy machine only makes it longer
    timer.start();
    worker.send(StartRequest{});
    for (int report = 0; report < 31; ++report) QVERIFY(worker.next_of<MetricsReport>());
    QVERIFY2(timer.elapsed() >= 990, QByteArray::number(timer.elapsed()));
  }

  void pausingIsPrompt() {
    Conversation worker;
    worker.greet();
    json config = {{"run", {{"out", out().toStdString()}}}, {"training", {{"steps", 100000000}}}};
    worker.send(OpenConfig{config});
    QVERIFY(worker.until(RunState::paused));
    qint64 slowest = 0;
    for (int round = 0; round < 10; ++round) {
      worker.send(StartRequest{});
      QVERIFY(worker.until(RunState::running));
      QVERIFY(worker.next_of<MetricsReport>());
      QElapsedTimer timer;
      timer.start();
      worker.send(PauseRequest{});
      QVERIFY(worker.until(RunState::paused));
      slowest = std::max(slowest, timer.elapsed());
    }
    qInfo("pause, slowest of 10: %lld ms", static_cast<long long>(slowest));
  }

  void aFailedRunStaysToBeLookedAt() {
    Conversation worker;
    worker.greet();
    json config = small_config(out());
    config["training"].update({{"lr", 10}, {"clip", 0}, {"schedule", "constant"}});
    config["model"] = {{"norm", "none"}, {"layers", 4}};
    worker.send(OpenConfig{config});
    worker.send(StartRequest{});
    const auto error = worker.next_of<ErrorReport>();
    QVERIFY2(error && error->fatal && is_clear(*error) && !error->hint.empty(), "one sentence and a hint");
    const auto state = worker.next_of<StateReport>();
    QVERIFY(state && state->state == RunState::failed);
    worker.send(InspectMessage{1, {"filters", 0, 0}});
    QVERIFY(worker.next_of<InspectedReport>());
    worker.send(StartRequest{});
    QVERIFY(mentions(worker.next_of<ErrorReport>()->message, "has failed"));
    worker.send(OpenConfig{small_config(out("next"))});
    QVERIFY(worker.next_of<OpenedReport>());
    worker.send(CloseRequest{});
    QCOMPARE(worker.finish(), 0);
  }

 private:
  QString out(const char* name = "runs") { return folder_->filePath(name); }

  std::unique_ptr<QTemporaryDir> folder_;
};

QTEST_GUILESS_MAIN(ServeTest)
#include "serve_test.moc"
