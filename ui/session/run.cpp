#include "ui/session/run.h"

#include <QDir>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/session/worker_client.h"

namespace mambarium {

namespace {

constexpr std::size_t train_losses_kept = 8192;
constexpr qint64 silence_milliseconds = 5000;

// The worker's words when the lock of a run folder is taken.
bool saysInUse(const QString& message) {
  return message.contains(QStringLiteral("is in use by another run"));
}

}  // namespace

Run::Run(const Machine& machine, const ExperimentConfig& config, QObject* parent)
    : QObject(parent), machine_(machine), config_(config) {}

Run::Run(const Machine& machine, const ExperimentConfig& config, const QString& folder, QObject* parent)
    : QObject(parent), machine_(machine), config_(config), folder_(folder), start_over_(false), loading_(true) {}

Run::~Run() {
  endOffer();
}

QString Run::title() const {
  return name_.isEmpty() ? QString::fromStdString(run_title(config_, fork_)) : name_;
}

qint64 Run::workerProcessId() const {
  return worker_ ? worker_->processId() : 0;
}

int Run::silentSeconds() const {
  const bool awaited = link_ == Link::opening || (link_ == Link::open && (intent_ != Intent::none || isTraining()));
  if (!awaited || !worker_ || !heard_.isValid() || heard_.elapsed() <= silence_milliseconds) return 0;
  return static_cast<int>(heard_.elapsed() / 1000);
}

std::int64_t Run::steps() const {
  return config_.integer("training.steps");
}

std::optional<double> Run::gap() const {
  if (rows_.empty()) return std::nullopt;
  return rows_.back().gap_add_beta;
}

RunSeries Run::series() const {
  return {title().toStdString(),
          folder_.toStdString(),
          fork_ ? fork_->parent : "",
          palette_index_,
          marker_index_,
          config_,
          rows_,
          train_losses_};
}

void Run::fill(const RunReport& report) {
  config_ = report.config;
  folder_ = QString::fromStdString(report.folder);
  fork_ = report.manifest.fork;
  if (fork_) {
    // Only its name is known; runs that were made together lie together.
    fork_folder_ = QDir(folder_ + QStringLiteral("/..")).filePath(QString::fromStdString(fork_->parent));
    Q_EMIT lookChanged();
  }
  start_over_ = false;
  loading_ = false;
  if (!worker_) {
    step_ = report.manifest.step;
    if (report.manifest.status == "finished") state_ = State::finished;
    if (report.manifest.status == "failed") state_ = State::failed;
  }
  addRows(report.rows);
  addCheckpoints(report.checkpoints);
  Q_EMIT rowsArrived();
  Q_EMIT changed();
}

void Run::stopLoading() {
  loading_ = false;
  Q_EMIT rowsArrived();
  Q_EMIT changed();
}

void Run::setLook(int palette_index, int marker_index) {
  if (palette_index == palette_index_ && marker_index == marker_index_) return;
  palette_index_ = palette_index;
  marker_index_ = marker_index;
  Q_EMIT lookChanged();
}

void Run::setName(const QString& name) {
  if (name == name_) return;
  name_ = name;
  Q_EMIT lookChanged();
}

void Run::setNote(const QString& note) {
  if (note == note_) return;
  note_ = note;
  Q_EMIT lookChanged();
}

void Run::setShown(bool shown) {
  if (shown == shown_) return;
  shown_ = shown;
  Q_EMIT lookChanged();
}

void Run::setTempo(double steps_per_second) {
  tempo_ = steps_per_second;
  if (link_ == Link::open) worker_->send(TempoRequest{tempo_});
}

void Run::adoptWorker(std::unique_ptr<WorkerClient> worker) {
  worker_ = std::move(worker);
  connectWorker();
}

void Run::connectWorker() {
  connect(worker_.get(), &WorkerClient::reported, this, &Run::receive);
  connect(worker_.get(), &WorkerClient::ended, this, &Run::workerEnded);
}

void Run::open() {
  let_be_ = false;
  bringWorker();
}

void Run::bringWorker() {
  if (link_ != Link::none) return;
  if (leaving_ && !leaving_->hasEnded()) {
    connect(leaving_, &WorkerClient::ended, this, &Run::bringWorker, Qt::UniqueConnection);
    return;
  }
  if (!worker_) {
    worker_ = std::make_unique<WorkerClient>();
    connectWorker();
    worker_->start(workerCommand(machine_));
  }
  if (!waits_) return sendOpen();
  if (state_ == State::starting) return;
  state_ = State::starting;
  Q_EMIT changed();
}

void Run::sendOpen() {
  link_ = Link::opening;
  in_use_elsewhere_ = false;
  preparation_.clear();
  heard_.start();
  ++opens_awaited_;
  if (state_ != State::finished || start_over_) state_ = State::starting;
  if (start_over_ && fork_) {
    worker_->send(OpenFork{fork_folder_.toStdString(), fork_->step, to_json(config_)});
  } else if (start_over_) {
    worker_->send(OpenConfig{to_json(config_)});
  } else {
    worker_->send(OpenFolder{folder_.toStdString()});
  }
  Q_EMIT changed();
}

void Run::play() {
  steps_to_take_ = 0;
  intent_ = Intent::train;
  if (state_ == State::failed) link_ = Link::none;  // a worker goes on with a failed run only when it opens it again
  if (link_ == Link::open) {
    worker_->send(StartRequest{});
    heard_.start();
    Q_EMIT changed();
  } else {
    open();
  }
}

void Run::pause() {
  steps_to_take_ = 0;
  if (link_ == Link::open) {
    worker_->send(PauseRequest{});
    intent_ = state_ == State::training || intent_ == Intent::train ? Intent::rest : Intent::none;
  } else {
    intent_ = Intent::none;
  }
  Q_EMIT changed();
}

void Run::advance(std::int64_t steps) {
  intent_ = Intent::none;
  steps_to_take_ += steps;
  if (link_ == Link::open) {
    takeSteps();
  } else {
    open();
  }
}

void Run::takeSteps() {
  if (stepping_ || steps_to_take_ == 0) return;
  stepping_ = true;
  worker_->send(StepRequest{std::exchange(steps_to_take_, 0)});
}

void Run::writeCheckpoint() {
  if (link_ == Link::open) worker_->send(CheckpointRequest{});
}

void Run::restart() {
  intent_ = Intent::none;
  steps_to_take_ = 0;
  start_over_ = true;
  if (link_ == Link::open) worker_->send(PauseRequest{});
  link_ = Link::none;
  open();
}

std::unique_ptr<WorkerClient> Run::releaseWorker() {
  if (!worker_) return nullptr;
  endOffer();
  intent_ = Intent::none;
  steps_to_take_ = 0;
  if (state_ == State::starting || state_ == State::paused || state_ == State::training) state_ = State::saved;
  disconnect(worker_.get(), nullptr, this, nullptr);
  worker_->close();
  link_ = Link::none;
  opens_awaited_ = 0;
  std::unique_ptr<WorkerClient> leaving = std::move(worker_);
  leaving_ = leaving.get();
  Q_EMIT changed();
  return leaving;
}

void Run::dropWorker() {
  opens_awaited_ = 0;
  disconnect(worker_.get(), nullptr, this, nullptr);
  worker_.release()->deleteLater();
  link_ = Link::none;
}

std::optional<std::int64_t> Run::inspect(const InspectRequest& request) {
  if (link_ != Link::open) {
    if (!let_be_) bringWorker();
    return std::nullopt;
  }
  const std::int64_t id = next_id_++;
  worker_->send(InspectMessage{id, request});
  return id;
}

void Run::receive(const Report& report) {
  heard_.start();
  if (const auto* opened = std::get_if<OpenedReport>(&report)) return receiveOpened(*opened);
  if (const auto* error = std::get_if<ErrorReport>(&report)) return receiveError(*error);
  if (const auto* log = std::get_if<LogReport>(&report)) {
    Q_EMIT logged(QString::fromStdString(log->text));
    return;
  }
  if (const auto* preparing = std::get_if<PreparingReport>(&report)) {
    preparation_ = QString::fromStdString(preparing->text);
    Q_EMIT changed();
    return;
  }
  if (link_ != Link::open) return;
  if (const auto* metrics = std::get_if<MetricsReport>(&report)) {
    if (metrics->generation == generation_) receiveMetrics(*metrics);
  } else if (const auto* state = std::get_if<StateReport>(&report)) {
    if (state->generation == generation_) receiveState(*state);
  } else if (const auto* answer = std::get_if<InspectedReport>(&report)) {
    if (answer->generation == generation_) {
      Q_EMIT inspected(answer->id, QString::fromStdString(answer->what), answer->data);
    }
  }
}

void Run::receiveOpened(const OpenedReport& report) {
  generation_ = report.generation;
  if (opens_awaited_ > 0 && --opens_awaited_ > 0) return;
  if (start_over_) {
    rows_.clear();
    train_losses_.clear();
    checkpoints_.clear();
  }
  start_over_ = false;
  loading_ = false;
  link_ = Link::open;
  folder_ = QString::fromStdString(report.folder);
  config_ = report.config;
  step_ = report.step;
  state_ = step_ >= steps() ? State::finished : State::paused;
  addRows(report.rows);
  addCheckpoints(report.checkpoints);
  Q_EMIT opened();
  Q_EMIT rowsArrived();
  answerOffer();

  worker_->send(TempoRequest{tempo_});
  if (owesCheckpoint()) worker_->send(CheckpointRequest{});
  stepping_ = false;
  takeSteps();
  if (intent_ == Intent::train && state_ != State::finished) worker_->send(StartRequest{});
  if (state_ == State::finished) intent_ = Intent::none;
  Q_EMIT changed();
}

void Run::receiveMetrics(const MetricsReport& report) {
  step_ = report.step;
  tokens_per_second_ = report.tokens_per_second;
  seconds_left_ = report.seconds_left;
  addTrainLoss(report.step, report.train_loss);
  addRows(report.rows);
  addCheckpoints(report.checkpoints);
  answerOffer();
  Q_EMIT rowsArrived();
  Q_EMIT changed();
}

void Run::receiveState(const StateReport& report) {
  step_ = report.step;
  switch (report.state) {
    case RunState::idle:
      return;
    case RunState::running:
      state_ = State::training;
      break;
    case RunState::paused:
      state_ = State::paused;
      break;
    case RunState::finished:
      state_ = State::finished;
      break;
    case RunState::failed:
      state_ = State::failed;
      break;
  }
  const bool answered = intent_ == Intent::train ? state_ != State::paused : state_ != State::training;
  if (answered) intent_ = Intent::none;
  if (state_ != State::training) {
    tokens_per_second_ = 0;
    stepping_ = false;
    if (state_ == State::paused) takeSteps();
  }
  Q_EMIT changed();
}

void Run::receiveError(const ErrorReport& report) {
  const QString message = QString::fromStdString(report.message), hint = QString::fromStdString(report.hint);
  if (report.id) {
    if (link_ == Link::open && report.generation == generation_) Q_EMIT inspectionFailed(*report.id, message, hint);
    return;
  }
  if (link_ == Link::opening) {
    if (report.generation < generation_) return;
    link_ = Link::none;
    opens_awaited_ = 0;
    let_be_ = true;
    intent_ = Intent::none;
    in_use_elsewhere_ = !start_over_ && saysInUse(message);
    if (!in_use_elsewhere_) state_ = State::failed;
    if (in_use_elsewhere_ && state_ != State::finished) state_ = State::saved;
  } else if (report.generation != generation_) {
    return;
  } else if (report.fatal) {
    state_ = State::failed;
    intent_ = Intent::none;
  }
  endOffer();
  Q_EMIT changed();
  Q_EMIT problem(message, hint);
}

void Run::workerEnded(const QString& reason, const QString& hint) {
  const QString last_words = worker_->lastWords();
  dropWorker();
  let_be_ = true;
  intent_ = Intent::none;
  tokens_per_second_ = 0;
  seconds_left_ = -1;
  if (state_ != State::finished && state_ != State::failed) state_ = State::died;
  endOffer();
  Q_EMIT changed();
  Q_EMIT workerDied(reason, hint, last_words);
}

void Run::addRows(const std::vector<MetricsRow>& rows) {
  for (const MetricsRow& row : rows) {
    const auto place = std::lower_bound(rows_.begin(), rows_.end(), row.step,
                                        [](const MetricsRow& known, std::int64_t step) { return known.step < step; });
    if (place != rows_.end() && place->step == row.step) {
      *place = row;
    } else {
      rows_.insert(place, row);
    }
  }
}

void Run::addCheckpoints(const std::vector<std::int64_t>& steps) {
  checkpoints_.insert(checkpoints_.end(), steps.begin(), steps.end());
  std::sort(checkpoints_.begin(), checkpoints_.end());
  checkpoints_.erase(std::unique(checkpoints_.begin(), checkpoints_.end()), checkpoints_.end());
}

void Run::addTrainLoss(std::int64_t step, double loss) {
  while (!train_losses_.empty() && train_losses_.back().first >= step) train_losses_.pop_back();
  if (step <= 0 || !std::isfinite(loss)) return;
  train_losses_.emplace_back(step, loss);
  if (train_losses_.size() < train_losses_kept) return;
  std::size_t kept = 0;
  for (std::size_t index = 1; index < train_losses_.size(); index += 2) train_losses_[kept++] = train_losses_[index];
  train_losses_.resize(kept);
}

QString toText(Run::State state) {
  switch (state) {
    case Run::State::saved:
      return QStringLiteral("Saved");
    case Run::State::starting:
      return QStringLiteral("Starting");
    case Run::State::paused:
      return QStringLiteral("Paused");
    case Run::State::training:
      return QStringLiteral("Training");
    case Run::State::finished:
      return QStringLiteral("Finished");
    case Run::State::failed:
      return QStringLiteral("Failed");
    case Run::State::died:
      return QStringLiteral("Worker lost");
  }
  return {};
}

}  // namespace mambarium
