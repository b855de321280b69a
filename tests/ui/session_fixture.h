// A session without a window on a machine, what it has asked its workers, and the processes it has started.
#pragma once

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QTest>
#include <csignal>
#include <memory>

#include "fake_machine.h"
#include "ui/session/session.h"

namespace mambarium {

inline std::unique_ptr<Session> sessionOn(const Machine& machine) {
  auto session = std::make_unique<Session>();
  ExperimentConfig config;
  config.set("run.out", machine.runs_folder.toStdString());
  session->draft().start(config);
  session->setMachines({{machine}, 0});
  return session;
}

// How often the run's fake worker was asked for something that begins with `prefix`, once nothing is on its way any
// more: requests keep their order, so what was sent before a request for a checkpoint is in the journal when that is,
// and its answers are here a moment later. -1: there is no worker that answers.
inline int settledCount(const FakeMachine& machine, Run& run, const QString& prefix) {
  const int before = machine.count(QStringLiteral("checkpoint"));
  run.writeCheckpoint();
  if (!QTest::qWaitFor([&] { return machine.count(QStringLiteral("checkpoint")) > before; }, 60'000)) return -1;
  QTest::qWait(2 * PanelFeed::frame_milliseconds);
  return machine.count(prefix);
}

// False where the run has no worker: process 0 would be the test itself and all it was started with.
inline bool signalWorker(const Run& run, int number) {
  const auto process = static_cast<pid_t>(run.workerProcessId());
  return process > 0 && ::kill(process, number) == 0;
}

// Living children of this process, by what the kernel says of every process.
inline int childProcesses() {
  const QByteArray own = QByteArray::number(QCoreApplication::applicationPid());
  int count = 0;
  for (const QString& process : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
    QFile file(QStringLiteral("/proc/%1/stat").arg(process));
    if (!file.open(QIODevice::ReadOnly)) continue;
    const QByteArray stat = file.readAll();
    const QList<QByteArray> fields = stat.mid(stat.lastIndexOf(')') + 2).split(' ');  // state, parent, ...
    if (fields.size() > 1 && fields[1] == own && fields[0] != "Z") ++count;
  }
  return count;
}

}  // namespace mambarium
