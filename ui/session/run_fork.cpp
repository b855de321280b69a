// The part of Run that forks: a run that offers a checkpoint, and one that waits for it.
#include <algorithm>

#include "ui/session/run.h"
#include "ui/session/worker_client.h"

namespace mambarium {

namespace {

std::string lastComponent(const QString& folder) {
  return folder.section(QLatin1Char('/'), -1, -1, QString::SectionSkipEmpty).toStdString();
}

}  // namespace

bool Run::canFork() const {
  if (waits_ || wantsToTrain()) return true;
  return (state_ == State::paused || state_ == State::starting) && (step_ > 0 || fork_);
}

void Run::forkFrom(Run& parent) {
  fork_ = Fork{lastComponent(parent.folder()), run_title(parent.config()), parent.step(),
               changes_text(parent.config(), config_)};
  waits_ = true;
  connect(&parent, &Run::checkpointReady, this, [this, from = &parent](const QString& folder, std::int64_t step) {
    disconnect(from, nullptr, this, nullptr);
    fork_->parent = lastComponent(folder);
    beginAt(folder, step);
  });
  connect(&parent, &Run::checkpointRefused, this, [this, from = &parent] {
    disconnect(from, nullptr, this, nullptr);
    waits_ = false;
    let_be_ = true;
    intent_ = Intent::none;
    state_ = State::failed;
    Q_EMIT changed();
    Q_EMIT problem(tr("The run that this one forks from ended before it had a checkpoint"),
                   tr("Fork from another run."));
  });
  parent.offerCheckpoint();
}

void Run::beginAt(const QString& parent_folder, std::int64_t step) {
  waits_ = false;
  fork_folder_ = parent_folder;
  fork_->step = step;
  step_ = step;
  Q_EMIT lookChanged();
  if (worker_) sendOpen();
}

void Run::offerCheckpoint() {
  checkpoint_wanted_ = step_;
  const bool stands_at_one = !isTraining() && std::binary_search(checkpoints_.begin(), checkpoints_.end(), step_);
  if (stands_at_one) {
    offerNewest();
  } else if (link_ == Link::open) {
    worker_->send(CheckpointRequest{});
  }
}

void Run::answerOffer() {
  if (checkpoint_wanted_ && !checkpoints_.empty() && checkpoints_.back() >= *checkpoint_wanted_) offerNewest();
}

void Run::offerNewest() {
  checkpoint_wanted_.reset();
  if (checkpoints_.empty()) {
    Q_EMIT checkpointRefused();
  } else {
    Q_EMIT checkpointReady(folder_, checkpoints_.back());
  }
}

void Run::endOffer() {
  if (checkpoint_wanted_) offerNewest();
}

}  // namespace mambarium
