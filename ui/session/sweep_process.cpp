#include "ui/session/sweep_process.h"

#include <signal.h>
#include <sys/prctl.h>

namespace mambarium {

namespace {

constexpr int patience_milliseconds = 5000;

}  // namespace

SweepProcess::SweepProcess(QObject* parent) : QObject(parent) {
  process_.setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGTERM); });
  connect(&process_, &QProcess::readyReadStandardOutput, this, [this] {
    process_.readAllStandardOutput();
    Q_EMIT progressed();
  });
  connect(&process_, &QProcess::readyReadStandardError, this, [this] { errors_ += process_.readAllStandardError(); });
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) Q_EMIT ended(tr("%1 could not be started.").arg(process_.program()));
  });
  connect(&process_, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    errors_ += process_.readAllStandardError();
    const QString said = QString::fromUtf8(errors_).trimmed();
    if (stopping_ || (status == QProcess::NormalExit && code == 0)) return Q_EMIT ended({});
    if (status == QProcess::CrashExit)
      return Q_EMIT ended(tr("The worker died; what it had computed is kept. %1").arg(said));
    Q_EMIT ended(said.isEmpty() ? tr("The worker ended with exit code %1.").arg(code) : said);
  });
}

SweepProcess::~SweepProcess() {
  process_.disconnect(this);
  stopAndWait();
}

void SweepProcess::start(const Machine& machine, const QString& file, const QString& folder) {
  WorkerCommand command = workerCommand(machine);
  errors_.clear();
  stopping_ = false;
  if (!command.found()) {
    Q_EMIT ended(command.problem + QLatin1Char(' ') + command.hint);
    return;
  }
  command.arguments.last() = QStringLiteral("sweep");
  command.arguments << file << QStringLiteral("--out") << folder;
  clock_.start();
  process_.start(command.program, command.arguments);
}

double SweepProcess::seconds() const {
  return static_cast<double>(clock_.elapsed()) / 1000;
}

void SweepProcess::stop() {
  stopping_ = true;
  process_.terminate();
}

void SweepProcess::stopAndWait() {
  if (!isRunning()) return;
  stop();
  if (process_.waitForFinished(patience_milliseconds)) return;
  process_.kill();
  process_.waitForFinished(patience_milliseconds);
}

}  // namespace mambarium
