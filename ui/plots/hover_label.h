// HoverLabel: the readout next to the mouse. It looks for a place beside the curve: of the corners around the mouse it
// takes the one that covers the fewest data points, and stays there until another is clearly better.
#pragma once

#include <QLabel>
#include <QPointF>
#include <vector>

namespace mambarium {

class Theme;

class HoverLabel : public QLabel {
  Q_OBJECT
 public:
  explicit HoverLabel(QWidget* plot);
  void setTheme(const Theme& theme);

  // `anchor` is the point that is read off, `avoid` the pixels of the curves nearby, `bounds` where the label may be.
  void showAt(const QString& rich_text, QPointF anchor, const std::vector<QPointF>& avoid, const QRect& bounds);

 private:
  int corner_ = 0;
  int gap_ = 14;
};

}  // namespace mambarium
