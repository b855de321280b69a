#include "ui/window_picture.h"

#include <QPixmap>
#include <utility>

#include "ui/main_window.h"

namespace mambarium {

namespace {

constexpr int look_every_milliseconds = 50;
constexpr int looks_for_panels = 20;

}  // namespace

WindowPicture::WindowPicture(MainWindow& window, Session& session, QString file, std::int64_t step)
    : QObject(&window), window_(window), session_(session), file_(std::move(file)), step_(step) {
  timer_.setInterval(look_every_milliseconds);
  connect(&timer_, &QTimer::timeout, this, &WindowPicture::look);
  connect(&session_, &Session::runProblem, this, [this](Run*, const QString& message) { finish(message); });
  connect(&session_, &Session::workerDied, this, [this](Run*, const QString& reason) { finish(reason); });
  session_.play();
  timer_.start();
}

void WindowPicture::look() {
  const Run* const run = session_.runs().current();
  if (run == nullptr) {
    finish(session_.playObstacle());
    return;
  }
  if (run->step() < step_ && run->state() != Run::State::finished) return;
  if (++looks_since_ < looks_for_panels) return;
  const bool saved = window_.grab().save(file_, "PNG");
  finish(saved ? QString() : tr("The picture could not be written to %1.").arg(file_));
}

void WindowPicture::finish(const QString& problem) {
  if (!timer_.isActive()) return;
  timer_.stop();
  Q_EMIT done(problem);
}

}  // namespace mambarium
