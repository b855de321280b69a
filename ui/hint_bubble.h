// HintBubble: one sentence that points at a widget, for the first start. A click anywhere on it sends it away.
#pragma once

#include <QFrame>

#include "ui/plots/theme.h"

namespace mambarium {

class HintBubble : public QFrame {
  Q_OBJECT
 public:
  // Floats above `target` inside its window.
  HintBubble(const QString& text, QWidget* target, const Theme& theme);
  void place();
  void leave();

 Q_SIGNALS:
  void dismissed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  QWidget* target_;
  Theme theme_;
};

}  // namespace mambarium
