// NoticeArea: what has gone wrong or should be known, in bars above the panels that wait to be read. Nothing blocks.
//
// A notice has a sentence, perhaps a hint, perhaps details in a fixed font (a worker's last words), and buttons, Close
// the last. Equal ones are shown once; only the newest few stay.
#pragma once

#include <QFrame>
#include <QString>
#include <functional>
#include <vector>

class QVBoxLayout;

namespace mambarium {

struct NoticeAction {
  QString text;
  std::function<void()> run;  // then the notice goes
};

struct Notice {
  QString message, hint, details;
  std::vector<NoticeAction> actions;
  QObject* about = nullptr;  // the notice goes when this does
};

class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  NoticeBar(const Notice& notice, QWidget* parent);
  const Notice& notice() const { return notice_; }
  QString text() const;  // message and hint
  void leave();

 private:
  Notice notice_;
};

class NoticeArea : public QWidget {
  Q_OBJECT
 public:
  static constexpr int most_notices = 3;

  explicit NoticeArea(QWidget* parent = nullptr);
  void add(const Notice& notice);
  void removeAbout(const QObject* about);
  std::vector<NoticeBar*> bars() const;

 private:
  QVBoxLayout* column_;
};

}  // namespace mambarium
