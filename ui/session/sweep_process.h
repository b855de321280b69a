// SweepProcess: `mambarium-worker sweep` as a process of the window. It is asked to stop with SIGTERM and then writes a
// checkpoint of every run under way, so that the same call goes on later.
//
// It never outlives the window: the destructor stops it and waits, and when this process dies in any other way the
// system sends it the same signal. GUI thread only.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>

#include "ui/session/machine.h"

namespace mambarium {

class SweepProcess : public QObject {
  Q_OBJECT
 public:
  explicit SweepProcess(QObject* parent = nullptr);
  ~SweepProcess() override;

  void start(const Machine& machine, const QString& file, const QString& folder);
  bool isRunning() const { return process_.state() != QProcess::NotRunning; }
  bool isStopping() const { return stopping_ && isRunning(); }
  double seconds() const;  // since it was started
  void stop();
  void stopAndWait();  // a few seconds at most; what has not ended then is killed, and has its last checkpoints

 Q_SIGNALS:
  void progressed();                   // it has said something: a point may be there
  void ended(const QString& problem);  // "" when it is done, or was stopped

 private:
  QProcess process_;
  QElapsedTimer clock_;
  QByteArray errors_;
  bool stopping_ = false;
};

}  // namespace mambarium
