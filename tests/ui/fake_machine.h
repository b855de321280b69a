// What tests of the window stand on: a temporary folder for settings and runs, and a machine that is the fake worker.
#pragma once

#include <QDir>
#include <QFile>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>
#include <QTextStream>

#include "ui/session/machine.h"

namespace mambarium {

class FakeMachine {
 public:
  FakeMachine() { qputenv("MAMBARIUM_SETTINGS", path(QStringLiteral("settings.ini")).toLocal8Bit()); }

  QString path(const QString& name) const { return QDir(folder_.path()).filePath(name); }
  QString journal() const { return path(QStringLiteral("journal")); }

  Machine machine(const QString& options = {}) const {
    const QString command = QStringLiteral("%1 --journal %2 %3").arg(QStringLiteral(FAKE_WORKER), journal(), options);
    return {QStringLiteral("Test machine"), command, path(QStringLiteral("runs"))};
  }

  // Every request the workers of this machine have got so far: "open_config", "inspect decay", "inspect filters 100"
  // ...
  QStringList requests() const {
    QFile file(journal());
    if (!file.open(QIODevice::ReadOnly)) return {};
    return QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  }
  int count(const QString& prefix) const {
    int found = 0;
    for (const QString& request : requests()) found += request.startsWith(prefix);
    return found;
  }

 private:
  QTemporaryDir folder_;
};

}  // namespace mambarium
