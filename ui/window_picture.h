// WindowPicture: a picture of a window, for pages and slides. `mambarium --screenshot` makes one, and
// scripts/screenshots makes those in assets/ that way, so that they can be made again after every change of the window.
//
// Given a session it presses play and waits until the current run has reached a step. It gives the window a second to
// draw what it asked for, and saves it in device pixels: a window of 1440 by 900 at a scale of 2 gives 2880 by 1800.
// GUI thread only; the window and the session have to outlive it.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <QWidget>
#include <cstdint>

namespace mambarium {

class Session;

class WindowPicture : public QObject {
  Q_OBJECT
 public:
  // The step is counted from 0; a run that ends before it is taken as it ended.
  WindowPicture(QWidget& window, Session& session, QString file, std::int64_t step);
  WindowPicture(QWidget& window, QString file);  // of a window that trains nothing

 Q_SIGNALS:
  // Once: "" when the file has been written, else one sentence saying why not (the run failed, the disk is full).
  void done(const QString& problem);

 private:
  void look();
  bool isThere();  // what the picture is to show
  void finish(const QString& problem);

  QWidget& window_;
  Session* session_ = nullptr;
  QString file_;
  std::int64_t step_ = 0;
  int looks_since_ = 0;
  QTimer timer_;
};

}  // namespace mambarium
