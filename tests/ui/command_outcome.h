// `mambarium figure` run as a function inside the test's process, with what it prints to stderr.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <QFile>
#include <QTemporaryDir>
#include <cstdio>

#include "ui/figure/figure_command.h"

namespace mambarium {

struct Outcome {
  int code = -1;
  QString errors;
};

// stderr is a file while the command runs.
inline Outcome figureWith(const QStringList& arguments) {
  QTemporaryDir directory;
  const QByteArray path = directory.filePath(QStringLiteral("stderr")).toLocal8Bit();
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  const int file = open(path.constData(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  dup2(file, STDERR_FILENO);
  close(file);
  Outcome outcome;
  outcome.code = runFigureCommand(QStringList{QStringLiteral("mambarium"), QStringLiteral("figure")} + arguments);
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  QFile said(QString::fromLocal8Bit(path));
  if (said.open(QIODevice::ReadOnly)) outcome.errors = QString::fromUtf8(said.readAll());
  return outcome;
}

}  // namespace mambarium
