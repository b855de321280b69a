// Run: one training run as the window knows it - its settings, its curves so far, where it stands and how it looks.
//
// A run outlives its worker. It has one while it trains or while somebody looks into its model, and is a folder on the
// worker's machine otherwise. play(), advance() and inspect() bring a worker back when there is none; it then goes on
// from the run's last checkpoint.
//
// Reports carry a generation number. Between asking a worker to open an experiment and its answer, and for any other
// generation than that answer's, reports are dropped: nothing from before a reset reaches a curve.
//
// A run may be a fork of another (core/contract/fork.h). It then waits until its parent's worker has written a
// checkpoint, while its own worker already starts, and begins there; restart() goes back to that step.
// GUI thread only.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/contract/messages.h"
#include "ui/plots/panel_data.h"
#include "ui/session/machine.h"

namespace mambarium {

class WorkerClient;

class Run : public QObject {
  Q_OBJECT
 public:
  enum class State {
    saved,     // no worker; the folder has everything
    starting,  // a worker is on its way
    paused,
    training,
    finished,
    failed,  // training cannot go on (not finite, disk full ...)
    died,    // the worker ended without being asked
  };
  Q_ENUM(State)

  // A new experiment that has not been opened yet.
  Run(const Machine& machine, const ExperimentConfig& config, QObject* parent = nullptr);
  // A run that is already a folder on that machine; fill() brings its curves.
  Run(const Machine& machine, const ExperimentConfig& config, const QString& folder, QObject* parent = nullptr);
  ~Run() override;

  const Machine& machine() const { return machine_; }
  const ExperimentConfig& config() const { return config_; }
  const QString& folder() const { return folder_; }  // "" until a worker made one
  QString title() const;
  const std::optional<Fork>& fork() const { return fork_; }
  State state() const { return state_; }
  bool isTraining() const { return state_ == State::training; }
  bool wantsToTrain() const {
    return intent_ == Intent::train || (state_ == State::training && intent_ != Intent::rest);
  }
  bool isPausing() const { return intent_ == Intent::rest; }  // asked, and not yet answered
  // For how long a worker that should be training, pausing or opening has said nothing, in whole seconds; 0 while that
  // is no reason to wonder.
  int silentSeconds() const;
  // Saved, and opening it was refused because another worker (of another window, say) holds its folder.
  bool isInUseElsewhere() const { return in_use_elsewhere_ && state_ == State::saved; }
  bool isLoading() const { return loading_; }  // a known folder whose curves are still to come
  bool isOpening() const { return link_ == Link::opening || waits_; }
  // What its worker does before it has the run open, as in "Reading the recording"; "" where it says nothing.
  QString preparation() const { return link_ == Link::opening ? preparation_ : QString(); }
  bool isOpen() const { return link_ == Link::open; }  // a worker has it and takes requests
  // There is something to go on from, and something left to train.
  bool canContinue() const { return !isTraining() && state_ != State::finished && !folder_.isEmpty(); }
  bool hasWorker() const { return worker_ != nullptr; }
  qint64 workerProcessId() const;

  std::int64_t step() const { return step_; }
  std::int64_t steps() const;
  const std::vector<MetricsRow>& rows() const { return rows_; }
  const std::vector<std::pair<std::int64_t, double>>& trainLosses() const { return train_losses_; }
  const std::vector<std::int64_t>& checkpoints() const { return checkpoints_; }
  std::optional<double> gap() const;  // to the add-beta estimator, at the last evaluation
  double tokensPerSecond() const { return tokens_per_second_; }
  double secondsLeft() const { return seconds_left_; }
  std::int64_t generation() const { return generation_; }
  RunSeries series() const;

  int paletteIndex() const { return palette_index_; }
  int markerIndex() const { return marker_index_; }
  const QString& name() const { return name_; }  // given by a person; "" shows the title
  const QString& note() const { return note_; }
  bool isShown() const { return shown_; }
  double tempo() const { return tempo_; }
  void fill(const RunReport& report);
  void stopLoading();  // its folder could not be read
  void setLook(int palette_index, int marker_index);
  void setName(const QString& name);
  void setNote(const QString& note);
  void setShown(bool shown);
  void setTempo(double steps_per_second);  // 0: full speed

  // Takes over a worker that has been started (and may have said hello already); without one, open() starts its own.
  void adoptWorker(std::unique_ptr<WorkerClient> worker);
  void open();
  void play();
  void pause();
  void advance(std::int64_t steps);
  void writeCheckpoint();
  void restart();  // back to where it began: a fresh folder, the old one stays where it is

  // run_fork.cpp
  bool canFork() const;        // it trains, or has trained and its worker is there or on its way
  void forkFrom(Run& parent);  // before the first play() or open(); the parent trains on
  void offerCheckpoint();      // one of about now, by checkpointReady
  bool owesCheckpoint() const { return checkpoint_wanted_.has_value(); }

  // Lets the worker go, asked to checkpoint and leave; the state becomes saved, finished or failed. The caller waits
  // for its end, or destroys it, which kills a process that still lives.
  std::unique_ptr<WorkerClient> releaseWorker();
  WorkerClient* worker() const { return worker_.get(); }

  // The id that the reply will carry, or nothing while no worker has the run open (one is then brought in, unless the
  // last one died: looking on must not start process after process).
  std::optional<std::int64_t> inspect(const InspectRequest& request);

 Q_SIGNALS:
  void changed();  // anything that a list or a sentence shows
  void opened();   // a worker has the run open; outstanding inspections are void
  void rowsArrived();
  void lookChanged();
  void inspected(std::int64_t id, const QString& what, const nlohmann::json& data);
  void inspectionFailed(std::int64_t id, const QString& message, const QString& hint);
  void logged(const QString& text);
  void problem(const QString& message, const QString& hint);
  void workerDied(const QString& reason, const QString& hint, const QString& last_words);
  // Once after each offerCheckpoint(), with the newest there is if the worker is lost; refused when there is none.
  void checkpointReady(const QString& folder, std::int64_t step);
  void checkpointRefused();

 private:
  enum class Intent { none, train, rest };  // asked of the worker and not yet answered
  enum class Link { none, opening, open };  // between the worker (if any) and this run's experiment

  void connectWorker();
  void bringWorker();
  void sendOpen();
  void receive(const Report& report);
  void receiveOpened(const OpenedReport& report);
  void receiveMetrics(const MetricsReport& report);
  void receiveState(const StateReport& report);
  void receiveError(const ErrorReport& report);
  void workerEnded(const QString& reason, const QString& hint);
  void addRows(const std::vector<MetricsRow>& rows);
  void addCheckpoints(const std::vector<std::int64_t>& steps);
  void addTrainLoss(std::int64_t step, double loss);
  void takeSteps();
  void dropWorker();
  void beginAt(const QString& parent_folder, std::int64_t step);
  void answerOffer();
  void offerNewest();
  void endOffer();

  Machine machine_;
  ExperimentConfig config_;
  QString folder_, name_, note_;
  std::unique_ptr<WorkerClient> worker_;
  QPointer<WorkerClient> leaving_;  // holds the folder until it has ended
  State state_ = State::saved;
  Intent intent_ = Intent::none;
  Link link_ = Link::none;
  bool start_over_ = true;  // open the configuration, or fork, rather than open the folder
  std::optional<Fork> fork_;
  QString fork_folder_;                            // of the parent, on the worker's machine
  bool waits_ = false;                             // for the parent's checkpoint
  std::optional<std::int64_t> checkpoint_wanted_;  // of this step or a later one
  bool let_be_ = false;                            // its worker died or refused: only a person may start another
  bool stepping_ = false;                          // a step request is on its way; more wait in steps_to_take_
  bool shown_ = true;
  bool in_use_elsewhere_ = false;
  bool loading_ = false;
  QString preparation_;
  QElapsedTimer heard_;  // since the worker's last report, or since it was last asked for something
  int palette_index_ = 0, marker_index_ = 0;
  double tempo_ = 0;
  int opens_awaited_ = 0;  // resets pressed faster than the worker answers
  std::int64_t generation_ = 0, step_ = 0, steps_to_take_ = 0, next_id_ = 1;
  double tokens_per_second_ = 0, seconds_left_ = -1;
  std::vector<MetricsRow> rows_;
  std::vector<std::pair<std::int64_t, double>> train_losses_;
  std::vector<std::int64_t> checkpoints_;
};

QString toText(Run::State state);  // "Training"

}  // namespace mambarium
