// Machine: where a worker runs. A name for people, the command line that starts the worker there, and the folder on
// that machine below which new runs are written.
//
// The command may be anything that speaks the protocol on its standard input and output: "" means the mambarium-worker
// that belongs to this program; "ssh gpu-box mambarium-worker" trains on another machine. "serve" is added when the
// line does not end with it.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

class QSettings;

namespace mambarium {

struct Machine {
  QString name;
  QString command;
  QString runs_folder;
  bool operator==(const Machine&) const = default;
};

// A command that can be started, or one sentence that says where it was looked for and one that says what to do.
struct WorkerCommand {
  QString program;
  QStringList arguments;
  QString problem, hint;
  bool found() const { return problem.isEmpty(); }
};

WorkerCommand workerCommand(const Machine& machine);

// Whether the worker surely runs on this computer and so reads its files: when its command is no other program that
// might lead elsewhere.
bool runsHere(const Machine& machine);

Machine thisMachine();  // what a fresh installation starts with

// All machines a person has set up (at least one) and which of them new runs use.
struct Machines {
  QList<Machine> list;
  int current = 0;
  const Machine& selected() const { return list.at(current); }
};
Machines loadMachines(const QSettings& settings);
void saveMachines(QSettings& settings, const Machines& machines);

}  // namespace mambarium
