// A session without a window on a machine, and the processes it has started.
#pragma once

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <memory>

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
