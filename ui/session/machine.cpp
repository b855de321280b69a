#include "ui/session/machine.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QSettings>
#include <QStandardPaths>

namespace mambarium {

namespace {

const QString worker_name = QStringLiteral("mambarium-worker");
const QString serve = QStringLiteral("serve");

WorkerCommand ownWorker() {
  const QString beside = QDir(QCoreApplication::applicationDirPath()).filePath(worker_name);
  if (QFileInfo(beside).isExecutable()) return {beside, {serve}, {}, {}};
  const QString in_path = QStandardPaths::findExecutable(worker_name);
  if (!in_path.isEmpty()) return {in_path, {serve}, {}, {}};
  return {
      {},
      {},
      QStringLiteral("The training program mambarium-worker was not found, neither as %1 nor in the folders of PATH.")
          .arg(QDir::toNativeSeparators(beside)),
      QStringLiteral("Build it with scripts/run, or give the command that starts it in Edit, Settings.")};
}

}  // namespace

WorkerCommand workerCommand(const Machine& machine) {
  QStringList words = QProcess::splitCommand(machine.command);
  if (words.isEmpty()) return ownWorker();
  const QString program = words.takeFirst();
  if (words.isEmpty() || words.last() != serve) words.append(serve);

  const QFileInfo file(program);
  const bool is_path = program.contains(QLatin1Char('/'));
  const QString found =
      is_path ? (file.isExecutable() && file.isFile() ? program : QString()) : QStandardPaths::findExecutable(program);
  if (found.isEmpty()) {
    const QString where = is_path ? QStringLiteral("there is no program at %1").arg(program)
                                  : QStringLiteral("%1 is in none of the folders of PATH").arg(program);
    return {{},
            {},
            QStringLiteral("The worker of %1 cannot be started: %2.").arg(machine.name, where),
            QStringLiteral("Correct its command in Edit, Settings.")};
  }
  return {found, words, {}, {}};
}

bool runsHere(const Machine& machine) {
  const QStringList words = QProcess::splitCommand(machine.command);
  return words.isEmpty() || QFileInfo(words.first()).fileName() == worker_name;
}

Machine thisMachine() {
  return {QStringLiteral("This computer"), {}, QDir::home().filePath(QStringLiteral("mambarium/runs"))};
}

Machines loadMachines(const QSettings& settings) {
  Machines machines;
  const QVariantList saved = settings.value(QStringLiteral("machines/list")).toList();
  for (const QVariant& entry : saved) {
    const QStringList fields = entry.toStringList();
    if (fields.size() == 3) machines.list.append({fields[0], fields[1], fields[2]});
  }
  if (machines.list.isEmpty()) machines.list.append(thisMachine());
  machines.current = settings.value(QStringLiteral("machines/current"), 0).toInt();
  if (machines.current < 0 || machines.current >= machines.list.size()) machines.current = 0;
  return machines;
}

void saveMachines(QSettings& settings, const Machines& machines) {
  QVariantList saved;
  for (const Machine& machine : machines.list) {
    saved.append(QVariant(QStringList{machine.name, machine.command, machine.runs_folder}));
  }
  settings.setValue(QStringLiteral("machines/list"), saved);
  settings.setValue(QStringLiteral("machines/current"), machines.current);
}

}  // namespace mambarium
