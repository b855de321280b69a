// Session: everything the window works on, and what its buttons mean. No widgets.
//
// The draft is what the form shows; the runs are what has been trained. Play on a draft that differs from the current
// run starts a new run (the old one is paused and kept); on an equal one it goes on with that run. Making another run
// current brings its settings into the draft, as a step that can be undone.
//
// While the current run trains, or has trained and is paused, an edit of a part forks it: a new run begins at its
// present step with the part changed (or, when asked for, at step 0), trains if it does, and becomes current; the
// parent trains on. Undo takes that run out of the list and makes the parent current again; its folder stays, as with
// every run that is removed. Redo forks again, at the step that is present then.
//
// A worker process lives while its run trains or is current. One more waits idle, so that the first press of play does
// not wait for a process to load. A run's name, note and look, and that it was removed, are in the settings file at
// once; the rest is saved when the window closes. GUI thread only.
#pragma once

#include <QObject>
#include <QTimer>
#include <optional>

#include "ui/session/experiment_draft.h"
#include "ui/session/machine.h"
#include "ui/session/panel_feed.h"
#include "ui/session/run_library.h"
#include "ui/session/run_list.h"

class QSettings;

namespace mambarium {

class Session : public QObject {
  Q_OBJECT
 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  ExperimentDraft& draft() { return draft_; }
  RunList& runs() { return runs_; }
  const RunList& runs() const { return runs_; }
  PanelFeed& feed() { return feed_; }
  const PanelFeed& feed() const { return feed_; }
  RunLibrary& library() { return library_; }
  const Machines& machines() const { return machines_; }
  void setMachines(const Machines& machines);

  // Why play (and step) cannot be pressed now, in sentences; empty when it can.
  QString playObstacle() const;
  bool draftIsCurrentRun() const;
  // Does the play button pause now? It does while the current run trains, unless the draft could start another run.
  bool playPauses() const;
  bool anyTraining() const;
  bool forksParts() const;  // would an edit of a part fork the current run now?
  void play();
  void pause();
  void pauseAll();
  void togglePlay();
  void step();
  void reset();
  void setTempo(double steps_per_second);  // of the current run and of runs to come; 0: full speed
  double tempo() const { return tempo_; }

  void openFolder(const Machine& machine, const QString& folder);
  void continueRun(Run* run);  // bring its worker back and go on from its last checkpoint
  void removeRun(Run* run);

  void save(QSettings& settings);
  void restore(const QSettings& settings);
  // Asks every worker to leave, waits for them all together, and kills what is still there. The session is over then.
  void shutDown(int milliseconds);

 Q_SIGNALS:
  void changed();  // what the transport and the sentence show may have changed
  void runLogged(mambarium::Run* run, const QString& text);
  void runProblem(mambarium::Run* run, const QString& message, const QString& hint);
  void workerDied(mambarium::Run* run, const QString& reason, const QString& hint, const QString& last_words);
  void folderProblem(const QString& message, const QString& hint);

 private:
  Run* runOfDraft();  // the current run when it is the draft's, else a new one
  Run* addRun(std::unique_ptr<Run> run);
  std::optional<Consequence> consequenceOf(const Property& changed, const ExperimentConfig& after, Beginning beginning);
  bool canForkInto(const ExperimentConfig& config) const;
  Run* fork(Run& parent, const ExperimentConfig& config, Beginning beginning);
  void takeBack(Run* fork, Run* parent);
  void watch(Run* run);
  void changeCurrent(Run* run);
  void releaseIfIdle(Run* run);
  void release(Run* run);

  ExperimentDraft draft_;
  RunList runs_;
  RunLibrary library_;
  PanelFeed feed_;
  Machines machines_;
  QTimer keep_runs_;  // writes the list of runs, a moment after a change that should outlive a crash
  QTimer listen_;     // looks every second whether the current run's worker has gone silent
  bool was_silent_ = false;
  double tempo_ = 0;
  Run* previous_ = nullptr;
  bool restoring_ = false;
  bool forking_ = false;  // the draft is being changed already: runs that become current leave it alone
};

}  // namespace mambarium
