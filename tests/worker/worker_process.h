// The real executable, driven: a command with its outputs and exit code, or a conversation over the protocol.
#pragma once

#include <QFloat16>
#include <QProcess>
#include <QStringList>
#include <functional>
#include <optional>
#include <vector>

#include "core/contract/framing.h"
#include "core/contract/messages.h"

namespace mambarium {

struct Finished {
  int code = -1;        // exit code; -1: killed by a signal
  QByteArray out, err;  // standard output and error
  // Lines of standard error, each of which must be a sentence of this program.
  std::vector<std::string> complaints() const;
};

using ChildSetup = std::function<void()>;  // runs in the child before exec
Finished run_worker(const QStringList& arguments, const QByteArray& input = {}, const ChildSetup& setup = {});

// False where it has ended: process 0 would be the test itself and all it was started with.
bool send_signal(const QProcess& process, int number);

bool worker_has_gpu();  // what `info` says

// `mambarium-worker serve` and our end of the pipe.
class Conversation {
 public:
  explicit Conversation(const ChildSetup& setup = {});
  ~Conversation();

  void greet();  // hello, and its answer
  void send(const Request& request);
  void send_bytes(const std::vector<std::uint8_t>& bytes);
  // The next report; nothing after 30 seconds, or when the worker is gone.
  std::optional<Report> next();
  // Reads on to the next report of one kind; what comes before it is kept in `passed`.
  template <class Kind>
  std::optional<Kind> next_of() {
    while (auto report = next()) {
      if (const auto* wanted = std::get_if<Kind>(&*report)) return *wanted;
      passed.push_back(*std::move(report));
    }
    return std::nullopt;
  }
  // Reads on to this state; nothing when the run fails or the worker ends first.
  std::optional<StateReport> until(RunState state);

  void close_input() { process_.closeWriteChannel(); }
  int finish();  // waits for the end; -1: killed by a signal, or still running after 30 seconds
  QProcess& process() { return process_; }
  QByteArray log() { return log_ += process_.readAllStandardError(); }

  std::vector<Report> passed;

 private:
  QProcess process_;
  FrameReader reader_;
  QByteArray log_;
};

// A run that takes a second or two: settings as flags, and as JSON.
QStringList small_run(const QString& out, const QStringList& more = {});
nlohmann::json small_config(const QString& out);

// metrics.csv without the seconds column, which alone may differ between equal runs.
std::string metrics_without_seconds(const std::string& folder);
std::string content(const std::string& path);
std::string only_run_in(const QString& out);  // the path of the one run folder there, "" if there is not one

}  // namespace mambarium
