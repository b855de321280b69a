// FrameMeter: how often a window is really painted, and how its memory grows, over some seconds. `mambarium --measure`
// prints what it finds.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QWidget>
#include <cstdint>

namespace mambarium {

std::int64_t residentBytes();  // of this process; 0 where the system does not tell

class FrameMeter : public QObject {
  Q_OBJECT
 public:
  explicit FrameMeter(QWidget* window);

  void start();
  int frames() const { return frames_; }
  double seconds() const;
  double framesPerSecond() const;
  QString report() const;  // "612 frames in 20.0 s: 30.6 a second, longest gap 48 ms, memory +1.2 MB"

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  QElapsedTimer clock_;
  qint64 last_ = 0, longest_ = 0;
  int frames_ = 0;
  std::int64_t bytes_at_start_ = 0;
};

}  // namespace mambarium
