// MotifProfileChart: 13 bars, the shares of all triples that the connected triads ought to have, drawn by hand.
//
// A press sets the bar under the mouse, and a motion with the button held sets every bar it passes, those between two
// of its points on the line between them; Escape takes the motion back. With the focus: Left, Right, Home and End
// choose a bar; Up and Down (or the wheel) change it by `step`, Page Up and Page Down by `page`; Delete makes it 0; a
// digit or Enter opens a field for the exact number. Below each bar stand the motif's number, a picture of the triad
// and its MAN name.
//
// What it holds is the text of the setting (core/contract/motif_shares.h), share by share: what cannot be read as a
// number stays as it was typed until its bar is changed, and is drawn as "?". A bar ends at 1; that the sum is at most
// 1 is left to the setting's own check, bars that break it wear the colour of a warning. Colours come from the palette.
#pragma once

#include <QLineEdit>
#include <QWidget>
#include <array>
#include <optional>

#include "core/motif/triads.h"

namespace mambarium {

class MotifProfileChart : public QWidget {
  Q_OBJECT
 public:
  static constexpr double step = 0.01, page = 0.1;

  explicit MotifProfileChart(QWidget* parent = nullptr);

  void setProfile(const QString& text);                      // as the setting has it; reports nothing
  void draw(const std::array<double, motif_count>& shares);  // as if by hand: one whole change
  QString profile() const;

  // `triad` is an index: the motif's number minus 1.
  std::optional<double> share(std::size_t triad) const;  // nothing where the text is no number
  double sum() const;                                    // of those that are numbers
  bool isAllowed() const;                                // each from 0 to 1, together at most 1
  std::size_t chosen() const { return chosen_; }
  void choose(std::size_t triad);
  double top() const { return top_; }                         // the share at the upper end of the bars
  QPointF pointOf(std::size_t triad, double of_share) const;  // where its bar ends with this share, in pixels
  QLineEdit* exactField() const { return exact_; }

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void changed(const QString& profile);  // by a person, at every step of a motion
  void settled();                        // a whole motion is over, or another one begins

 protected:
  bool event(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;  // of the field for the exact number

 private:
  struct Point {
    std::size_t triad;
    double share;
  };

  // motif_profile_painting.cpp
  QFont smallFont() const;
  QRectF plot() const;
  QRectF column(std::size_t triad) const;  // from the plot's upper end to the end of the names
  void paintScale(QPainter& painter) const;
  void paintBar(QPainter& painter, std::size_t triad) const;
  void paintNames(QPainter& painter, std::size_t triad) const;
  void paintValue(QPainter& painter, std::size_t triad) const;

  std::optional<std::size_t> triadAt(const QPointF& pixel) const;
  Point pointAt(const QPointF& pixel) const;
  QString describe(std::size_t triad) const;  // "Motif-2 (021U), converge: a→c, b→c: 0.25"
  void set(std::size_t triad, const QString& text);
  void set(std::size_t triad, double share);
  void report();
  void stepBy(double amount);
  void endSteps();
  void endSweep();
  void openExact(const QString& text);
  void closeExact(bool take);
  void fitTop();
  void refresh();
  static bool takesKey(const QKeyEvent& event);

  std::array<QString, motif_count> shares_;
  double top_ = 0.5;
  std::size_t chosen_ = 0;
  std::optional<std::size_t> hovered_;
  std::optional<Point> swept_;          // the last point of a motion with the button held
  QString before_;                      // that motion
  std::optional<std::size_t> stepped_;  // whose steps, by keys or wheel, are one change so far
  int wheel_ = 0;                       // eighths of a degree that make no whole step yet
  QLineEdit* exact_;
};

}  // namespace mambarium
