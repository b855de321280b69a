// WorkerClient: one worker process and the conversation with it.
//
// start() runs the command; `ready` comes when the worker has said hello in this protocol version. Requests may be sent
// from start() on: they wait in the pipe. Reports come one signal each, in order. Whatever happens, `ended` comes
// exactly once, last: after close() with an empty reason, else with one sentence that says what went wrong (the process
// died, its bytes could not be read, another protocol version). lastWords() are the last lines of its stderr.
//
// GUI thread only. Nothing here blocks but waitForEnd() and, for a second at most, the destructor.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QTimer>

#include "core/contract/framing.h"
#include "core/contract/messages.h"
#include "ui/session/machine.h"

namespace mambarium {

class WorkerClient : public QObject {
  Q_OBJECT
 public:
  explicit WorkerClient(QObject* parent = nullptr);
  ~WorkerClient() override;  // kills a process that still lives

  void start(const WorkerCommand& command);
  void send(const Request& request);
  void close();  // asks for a checkpoint and a clean exit; a worker that does not leave is killed after a while
  void kill();
  bool waitForEnd(int milliseconds);

  bool hasEnded() const { return state_ == State::ended; }
  QString lastWords() const;
  qint64 processId() const { return process_.processId(); }

 Q_SIGNALS:
  void ready(const mambarium::HelloReport& hello);
  void reported(const mambarium::Report& report);
  void ended(const QString& reason, const QString& hint);

 private:
  enum class State { idle, starting, ready, ended };

  void readReports();
  void readWords();
  void receive(const nlohmann::json& message);
  void receiveHello(const HelloReport& hello);
  void fail(const QString& reason, const QString& hint);
  void end();

  QProcess process_;
  QTimer patience_;  // for a worker that was asked to leave
  FrameReader reader_;
  State state_ = State::idle;
  bool closing_ = false;
  QByteArray words_, first_bytes_;
  QString reason_, hint_;
};

}  // namespace mambarium
