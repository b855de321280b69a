#include "worker_process.h"

#include <QElapsedTimer>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace mambarium {

namespace {

constexpr int patience_ms = 30000;
const char* const worker = MAMBARIUM_BIN_DIR "/mambarium-worker";

int exit_code_of(const QProcess& process) {
  return process.state() == QProcess::NotRunning && process.exitStatus() == QProcess::NormalExit ? process.exitCode()
                                                                                                 : -1;
}

}  // namespace

std::vector<std::string> Finished::complaints() const {
  std::vector<std::string> lines;
  for (const QByteArray& line : err.split('\n'))
    if (!line.isEmpty()) lines.push_back(line.toStdString());
  return lines;
}

Finished run_worker(const QStringList& arguments, const QByteArray& input, const ChildSetup& setup) {
  QProcess process;
  if (setup) process.setChildProcessModifier(setup);
  process.start(worker, arguments);
  process.write(input);
  process.closeWriteChannel();
  if (!process.waitForFinished(4 * patience_ms)) process.kill();
  process.waitForFinished();
  return {exit_code_of(process), process.readAllStandardOutput(), process.readAllStandardError()};
}

bool send_signal(const QProcess& process, int number) {
  const qint64 id = process.processId();
  return id > 0 && ::kill(static_cast<pid_t>(id), number) == 0;
}

bool worker_has_gpu() {
  return run_worker({"info", "--json"}).out.contains("\"usable\": true");
}

Conversation::Conversation(const ChildSetup& setup) {
  if (setup) process_.setChildProcessModifier(setup);
  process_.start(worker, {"serve"});
  process_.waitForStarted();
}

Conversation::~Conversation() {
  process_.kill();
  process_.waitForFinished();
}

void Conversation::greet() {
  send(HelloRequest{protocol_version, "test", "0"});
  next_of<HelloReport>();
}

void Conversation::send(const Request& request) {
  send_bytes(encode_frame(encode_request(request)));
}

void Conversation::send_bytes(const std::vector<std::uint8_t>& bytes) {
  process_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<qint64>(bytes.size()));
  process_.waitForBytesWritten();
}

std::optional<Report> Conversation::next() {
  QElapsedTimer timer;
  timer.start();
  while (timer.elapsed() < patience_ms) {
    if (const auto message = reader_.next()) return decode_report(*message);
    const QByteArray bytes = process_.readAllStandardOutput();
    if (bytes.isEmpty() && !process_.waitForReadyRead(patience_ms)) return std::nullopt;
    reader_.append({reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<std::size_t>(bytes.size())});
  }
  return std::nullopt;
}

std::optional<StateReport> Conversation::until(RunState state) {
  while (auto report = next_of<StateReport>()) {
    if (report->state == state) return report;
    if (report->state == RunState::failed) return std::nullopt;
  }
  return std::nullopt;
}

int Conversation::finish() {
  process_.waitForFinished(patience_ms);
  return exit_code_of(process_);
}

QStringList small_run(const QString& out, const QStringList& more) {
  return QStringList{"train",
                     "--task.length=32",
                     "--training.batch=8",
                     "--training.steps=200",
                     "--training.eval_every=20",
                     "--training.checkpoint_every=50",
                     "--run.out=" + out} +
         more;
}

nlohmann::json small_config(const QString& out) {
  return {{"task", {{"length", 32}}},
          {"training", {{"batch", 8}, {"steps", 200}, {"eval_every", 20}, {"checkpoint_every", 50}}},
          {"run", {{"out", out.toStdString()}}}};
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string metrics_without_seconds(const std::string& folder) {
  std::istringstream lines(content(folder + "/metrics.csv"));
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t second_comma = line.find(',', line.find(',') + 1);
    const std::size_t third_comma = line.find(',', second_comma + 1);
    kept += line.substr(0, second_comma) + line.substr(third_comma) + "\n";
  }
  return kept;
}

std::string only_run_in(const QString& out) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(out.toStdString(), error))
    if (entry.is_directory()) found.push_back(entry.path().string());
  return found.size() == 1 ? found.front() : "";
}

}  // namespace mambarium
