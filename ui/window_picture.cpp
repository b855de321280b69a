#include "ui/window_picture.h"

#include <QPixmap>
#include <utility>

#include "ui/session/session.h"

namespace mambarium {

namespace {

constexpr int look_every_milliseconds = 50;
constexpr int looks_for_window = 20;

}  // namespace

WindowPicture::WindowPicture(QWidget& window, QString file)
    : QObject(&window), window_(window), file_(std::move(file)) {
  timer_.setInterval(look_every_milliseconds);
  connect(&timer_, &QTimer::timeout, this, &WindowPicture::look);
  timer_.start();
}

WindowPicture::WindowPicture(QWidget& window, Session& session, QString file, std::int64_t step)
    : WindowPicture(window, std::move(file)) {
  session_ = &session;
  step_ = step;
  connect(session_, &Session::runProblem, this, [this](Run*, const QString& message) { finish(message); });
  connect(session_, &Session::workerDied, this, [this](Run*, const QString& reason) { finish(reason); });
  session_->play();
}

bool WindowPicture::isThere() {
  if (session_ == nullptr) return true;
  const Run* const run = session_->runs().current();
  if (run == nullptr) {
    finish(session_->playObstacle());
    return false;
  }
  return run->step() >= step_ || run->state() == Run::State::finished;
}

void WindowPicture::look() {
  if (!isThere() || ++looks_since_ < looks_for_window) return;
  const bool saved = window_.grab().save(file_, "PNG");
  finish(saved ? QString() : tr("The picture could not be written to %1.").arg(file_));
}

void WindowPicture::finish(const QString& problem) {
  if (!timer_.isActive()) return;
  timer_.stop();
  Q_EMIT done(problem);
}

}  // namespace mambarium
