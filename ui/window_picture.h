// WindowPicture: a picture of the window while it trains, for pages and slides. `mambarium --screenshot` makes one, and
// scripts/screenshots makes those in assets/ that way, so that they can be made again after every change of the window.
//
// It presses play, waits until the current run has reached a step, gives the panels a second to draw what they asked
// the worker for, and saves the window in device pixels: a window of 1440 by 900 at a scale of 2 gives 2880 by 1800.
// GUI thread only; the window and the session have to outlive it.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <cstdint>

namespace mambarium {

class MainWindow;
class Session;

class WindowPicture : public QObject {
  Q_OBJECT
 public:
  // The step is counted from 0; a run that ends before it is taken as it ended.
  WindowPicture(MainWindow& window, Session& session, QString file, std::int64_t step);

 Q_SIGNALS:
  // Once: "" when the file has been written, else one sentence saying why not (the run failed, the disk is full).
  void done(const QString& problem);

 private:
  void look();
  void finish(const QString& problem);

  MainWindow& window_;
  Session& session_;
  QString file_;
  std::int64_t step_;
  int looks_since_ = 0;
  QTimer timer_;
};

}  // namespace mambarium
