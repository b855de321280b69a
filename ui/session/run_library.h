// RunLibrary: what is in the run folders of a machine, asked of a worker there - so that local and remote runs are read
// the same way.
//
// Keeps at most one idle worker per command. An idle worker may be taken for a new run, which then starts without
// waiting for a process. Every question is answered exactly once, from the event loop, with what was asked for or with
// an error. GUI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/contract/messages.h"
#include "ui/session/machine.h"

namespace mambarium {

class WorkerClient;

struct LibraryError {
  QString message, hint;
};

class RunLibrary : public QObject {
  Q_OBJECT
 public:
  using Listed = std::function<void(const std::vector<RunSummary>&)>;
  using ReadAnswer = std::function<void(const RunReport&)>;
  using Failed = std::function<void(const LibraryError&)>;

  explicit RunLibrary(QObject* parent = nullptr);
  ~RunLibrary() override;

  void prepare(const Machine& machine);  // start a worker now; unavailable() tells when that is impossible
  void list(const Machine& machine, const QString& root, Listed listed, Failed failed);
  void read(const Machine& machine, const QString& folder, ReadAnswer answer, Failed failed);
  std::unique_ptr<WorkerClient> takeIdleWorker(const Machine& machine);  // nullptr when there is none
  std::vector<WorkerClient*> workers() const;

 Q_SIGNALS:
  void unavailable(const QString& reason, const QString& hint, const QString& last_words);

 private:
  struct Question {
    Listed listed;
    ReadAnswer answer;
    Failed failed;
  };
  struct Desk {
    std::unique_ptr<WorkerClient> worker;
    std::map<std::int64_t, Question> open_questions;
  };

  Desk& desk(const Machine& machine);
  void receive(const QString& command, const Report& report);
  void workerEnded(const QString& command, const QString& reason, const QString& hint);

  std::map<QString, Desk> desks_;  // by the machine's command
  std::int64_t next_id_ = 1;
};

}  // namespace mambarium
