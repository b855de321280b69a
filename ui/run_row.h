// RunRow: one run in the list - eye, colour and marker, title, state, gap, and a note that can be typed.
#pragma once

#include <QFrame>

#include "ui/plots/theme.h"
#include "ui/session/run.h"

class QLabel;
class QLineEdit;
class QToolButton;

namespace mambarium {

class RunRow : public QFrame {
  Q_OBJECT
 public:
  explicit RunRow(Run& run, QWidget* parent = nullptr);

  Run& run() const { return run_; }
  void setTheme(const Theme& theme);
  void setCurrent(bool current);
  void editNote();

 Q_SIGNALS:
  void chosen();
  void menuRequested(const QPoint& global_position);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void refresh();
  void refreshLook();

  Run& run_;
  Theme theme_;
  QToolButton *eye_, *menu_;
  class Swatch;
  Swatch* swatch_;
  QLabel *title_, *state_, *gap_;
  QLineEdit* note_;
  bool current_ = false;
};

}  // namespace mambarium
