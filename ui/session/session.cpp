#include "ui/session/session.h"

#include <QElapsedTimer>
#include <QPointer>
#include <QScopedValueRollback>
#include <QSettings>
#include <QTimer>
#include <utility>

#include "ui/session/application_settings.h"
#include "ui/session/problem_text.h"
#include "ui/session/worker_client.h"

namespace mambarium {

namespace {

constexpr int keep_after_milliseconds = 200;

}  // namespace

Session::Session(QObject* parent)
    : QObject(parent), draft_(this), runs_(this), library_(this), feed_(runs_, this), machines_{{thisMachine()}, 0} {
  connect(&draft_, &ExperimentDraft::changed, this, [this] {
    // An edited experiment will become a run: have a worker ready for it.
    if (runs_.current() && !restoring_ && !draftIsCurrentRun()) library_.prepare(machines_.selected());
    Q_EMIT changed();
  });
  draft_.setConsequences([this](const Property& changed, const ExperimentConfig& after, Beginning beginning) {
    return consequenceOf(changed, after, beginning);
  });
  connect(&runs_, &RunList::added, this, &Session::watch);
  connect(&runs_, &RunList::currentChanged, this, &Session::changeCurrent);
  keep_runs_.setSingleShot(true);
  keep_runs_.setInterval(keep_after_milliseconds);
  connect(&keep_runs_, &QTimer::timeout, this, [this] { runs_.save(*openSettings()); });
  connect(&listen_, &QTimer::timeout, this, [this] {
    const bool silent = runs_.current() && runs_.current()->silentSeconds() > 0;
    if (silent || was_silent_) Q_EMIT changed();
    was_silent_ = silent;
  });
  listen_.start(1000);
}

Session::~Session() {
  disconnect(&runs_, nullptr, this, nullptr);
  for (int index = 0; index < runs_.count(); ++index) disconnect(runs_.at(index), nullptr, this, nullptr);
}

void Session::setMachines(const Machines& machines) {
  const bool other_folder = machines.selected().runs_folder != machines_.selected().runs_folder;
  machines_ = machines;
  Q_EMIT changed();
  if (!other_folder) return;
  ExperimentConfig moved = draft_.config();
  moved.set("run.out", machines_.selected().runs_folder.toStdString());
  draft_.replace(moved, tr("Run folder"), false);
}

bool Session::draftIsCurrentRun() const {
  return runs_.current() && sameExperiment(draft_.config(), runs_.current()->config());
}

QString Session::playObstacle() const {
  const std::vector<Problem> problems = draft_.problems();
  if (!problems.empty()) return toSentences(problems);
  if (draftIsCurrentRun() && runs_.current()->state() == Run::State::finished) {
    return tr("This run is finished. Change a setting, or reset it to train again.");
  }
  return {};
}

Run* Session::runOfDraft() {
  if (draftIsCurrentRun()) return runs_.current();
  if (Run* const old = runs_.current(); old && old->wantsToTrain()) old->pause();
  return addRun(std::make_unique<Run>(machines_.selected(), draft_.config()));
}

Run* Session::addRun(std::unique_ptr<Run> run) {
  if (auto worker = library_.takeIdleWorker(run->machine())) run->adoptWorker(std::move(worker));
  run->setTempo(tempo_);
  return runs_.add(std::move(run));
}

bool Session::forksParts() const {
  return draft_.problems().empty() && canForkInto(draft_.config());
}

bool Session::canForkInto(const ExperimentConfig& config) const {
  const Run* const run = runs_.current();
  return run && run->canFork() && config.validate().empty() &&
         fork_problems(run->config(), config, run->step()).empty();
}

std::optional<Consequence> Session::consequenceOf(const Property& changed, const ExperimentConfig& after,
                                                  Beginning beginning) {
  if (changed.group != "Parts" || !draft_.problems().empty() || !canForkInto(after)) return std::nullopt;
  if (sameExperiment(after, runs_.current()->config())) return std::nullopt;
  struct Made {
    QPointer<Run> parent, fork;
    bool is_there = false;
  };
  const auto made = std::make_shared<Made>();
  made->parent = runs_.current();
  return Consequence{[this, made, after, beginning] {
                       made->is_there = made->parent && made->parent == runs_.current() && canForkInto(after);
                       if (made->is_there) made->fork = fork(*made->parent, after, beginning);
                     },
                     [this, made] {
                       if (std::exchange(made->is_there, false)) takeBack(made->fork, made->parent);
                     }};
}

Run* Session::fork(Run& parent, const ExperimentConfig& config, Beginning beginning) {
  const QScopedValueRollback<bool> leave_draft(forking_, true);
  const bool trains = parent.wantsToTrain();
  auto made = std::make_unique<Run>(parent.machine(), config);
  if (beginning == Beginning::now) made->forkFrom(parent);
  Run* const child = addRun(std::move(made));
  if (trains) {
    child->play();
  } else {
    child->open();
  }
  return child;
}

void Session::takeBack(Run* fork, Run* parent) {
  const QScopedValueRollback<bool> leave_draft(forking_, true);
  if (parent) runs_.setCurrent(parent);
  if (fork) removeRun(fork);
}

void Session::play() {
  if (!playObstacle().isEmpty()) return;
  feed_.setCheckpoint(std::nullopt);
  runOfDraft()->play();
}

void Session::pause() {
  if (Run* const run = runs_.current()) run->pause();
}

void Session::pauseAll() {
  for (int index = 0; index < runs_.count(); ++index) {
    if (runs_.at(index)->wantsToTrain()) runs_.at(index)->pause();
  }
}

bool Session::playPauses() const {
  const Run* const run = runs_.current();
  return run && run->wantsToTrain() && (draftIsCurrentRun() || !playObstacle().isEmpty());
}

bool Session::anyTraining() const {
  for (int index = 0; index < runs_.count(); ++index) {
    if (runs_.at(index)->wantsToTrain()) return true;
  }
  return false;
}

void Session::togglePlay() {
  if (playPauses()) {
    pause();
  } else {
    play();
  }
}

void Session::step() {
  if (!playObstacle().isEmpty()) return;
  feed_.setCheckpoint(std::nullopt);
  runOfDraft()->advance(1);
}

void Session::reset() {
  if (Run* const run = runs_.current()) {
    feed_.setCheckpoint(std::nullopt);
    run->restart();
  }
}

void Session::setTempo(double steps_per_second) {
  tempo_ = steps_per_second;
  if (Run* const run = runs_.current()) run->setTempo(tempo_);
  Q_EMIT changed();
}

void Session::openFolder(const Machine& machine, const QString& folder) {
  if (Run* const known = runs_.find(machine, folder)) {
    runs_.setCurrent(known);
    return;
  }
  library_.read(
      machine, folder,
      [this, machine](const RunReport& report) {
        const QString found = QString::fromStdString(report.folder);
        if (Run* const known = runs_.find(machine, found)) {
          runs_.setCurrent(known);
          return;
        }
        Run* const run = runs_.add(std::make_unique<Run>(machine, report.config, found));
        run->setTempo(tempo_);
        run->fill(report);
      },
      [this](const LibraryError& error) { Q_EMIT folderProblem(error.message, error.hint); });
}

void Session::continueRun(Run* run) {
  runs_.setCurrent(run);
  draft_.replace(run->config(), tr("Settings of %1").arg(run->title()), false);
  run->play();
}

void Session::removeRun(Run* run) {
  disconnect(run, nullptr, this, nullptr);
  release(run);
  if (previous_ == run) previous_ = nullptr;
  runs_.remove(run);
  keep_runs_.start();
  Q_EMIT changed();
}

void Session::watch(Run* run) {
  connect(run, &Run::lookChanged, this, [this] {
    if (!restoring_) keep_runs_.start();
  });
  connect(run, &Run::changed, this, &Session::changed);
  connect(run, &Run::changed, this, [this, run] { releaseIfIdle(run); });
  connect(run, &Run::logged, this, [this, run](const QString& text) { Q_EMIT runLogged(run, text); });
  connect(run, &Run::problem, this,
          [this, run](const QString& message, const QString& hint) { Q_EMIT runProblem(run, message, hint); });
  connect(run, &Run::workerDied, this, [this, run](const QString& reason, const QString& hint, const QString& words) {
    Q_EMIT workerDied(run, reason, hint, words);
  });
}

void Session::changeCurrent(Run* run) {
  if (previous_) releaseIfIdle(previous_);
  previous_ = run;
  if (run && !restoring_) {
    run->setTempo(tempo_);
    if (!forking_) draft_.replace(run->config(), tr("Settings of %1").arg(run->title()), false);
  }
  Q_EMIT changed();
}

void Session::releaseIfIdle(Run* run) {
  if (run == runs_.current() || !run->hasWorker() || run->wantsToTrain() || run->isTraining()) return;
  if (run->owesCheckpoint()) return;  // to a fork that waits for it
  release(run);
}

void Session::release(Run* run) {
  std::unique_ptr<WorkerClient> released = run->releaseWorker();
  if (!released || released->hasEnded()) return;
  WorkerClient* const leaving = released.release();
  leaving->setParent(this);
  connect(leaving, &WorkerClient::ended, leaving, &QObject::deleteLater);
}

void Session::save(QSettings& settings) {
  keep_runs_.stop();
  saveMachines(settings, machines_);
  runs_.save(settings);
  settings.setValue(QStringLiteral("session/experiment"), QString::fromStdString(share_string(draft_.config())));
  settings.setValue(QStringLiteral("session/tempo"), tempo_);
}

void Session::restore(const QSettings& settings) {
  restoring_ = true;
  machines_ = loadMachines(settings);
  tempo_ = settings.value(QStringLiteral("session/tempo"), 0.0).toDouble();
  runs_.restore(settings);
  const QString experiment = settings.value(QStringLiteral("session/experiment")).toString();
  ExperimentConfig config;
  if (experiment.isEmpty()) {
    config.set("run.out", machines_.selected().runs_folder.toStdString());
  } else {
    config = config_from_share_string(experiment.toStdString()).config;
  }
  draft_.start(config);
  restoring_ = false;

  library_.prepare(machines_.selected());
  for (int index = 0; index < runs_.count(); ++index) {
    Run* const run = runs_.at(index);
    run->setTempo(tempo_);
    library_.read(
        run->machine(), run->folder(),
        [guard = QPointer<Run>(run)](const RunReport& report) {
          if (guard) guard->fill(report);
        },
        [this, guard = QPointer<Run>(run)](const LibraryError& error) {
          if (guard) guard->stopLoading();
          Q_EMIT folderProblem(error.message, error.hint);
        });
  }
}

void Session::shutDown(int milliseconds) {
  std::vector<WorkerClient*> leaving = library_.workers();
  for (int index = 0; index < runs_.count(); ++index) {
    Run* const run = runs_.at(index);
    disconnect(run, nullptr, this, nullptr);
    if (run->worker()) leaving.push_back(run->worker());
  }
  const QList<WorkerClient*> released = findChildren<WorkerClient*>(QString(), Qt::FindDirectChildrenOnly);
  leaving.insert(leaving.end(), released.begin(), released.end());
  for (WorkerClient* worker : leaving) worker->close();
  QElapsedTimer clock;
  clock.start();
  for (WorkerClient* worker : leaving) {
    if (!worker->waitForEnd(milliseconds - static_cast<int>(clock.elapsed()))) worker->kill();
  }
}

}  // namespace mambarium
