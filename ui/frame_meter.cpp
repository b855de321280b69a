#include "ui/frame_meter.h"

#include <unistd.h>

#include <QEvent>
#include <QFile>
#include <algorithm>

namespace mambarium {

std::int64_t residentBytes() {
  QFile file(QStringLiteral("/proc/self/statm"));
  if (!file.open(QIODevice::ReadOnly)) return 0;
  const QList<QByteArray> pages = file.readAll().split(' ');
  return pages.size() > 1 ? pages[1].toLongLong() * ::sysconf(_SC_PAGESIZE) : 0;
}

FrameMeter::FrameMeter(QWidget* window) : QObject(window) {
  window->installEventFilter(this);
}

void FrameMeter::start() {
  frames_ = 0;
  longest_ = 0;
  last_ = 0;
  bytes_at_start_ = residentBytes();
  clock_.start();
}

double FrameMeter::seconds() const {
  return static_cast<double>(clock_.elapsed()) / 1000;
}

double FrameMeter::framesPerSecond() const {
  return frames_ / std::max(0.001, seconds());
}

QString FrameMeter::report() const {
  return QStringLiteral("%1 frames in %2 s: %3 a second, longest gap %4 ms, memory %5 MB, grown by %6 MB")
      .arg(frames_)
      .arg(seconds(), 0, 'f', 1)
      .arg(framesPerSecond(), 0, 'f', 1)
      .arg(longest_)
      .arg(static_cast<double>(residentBytes()) / 1e6, 0, 'f', 1)
      .arg(static_cast<double>(residentBytes() - bytes_at_start_) / 1e6, 0, 'f', 1);
}

bool FrameMeter::eventFilter(QObject*, QEvent* event) {
  // A window with damaged widgets gets one UpdateRequest a frame, in which all of them are painted and shown.
  if (event->type() == QEvent::UpdateRequest && clock_.isValid()) {
    const qint64 now = clock_.elapsed();
    longest_ = std::max(longest_, now - last_);
    last_ = now;
    ++frames_;
  }
  return false;
}

}  // namespace mambarium
