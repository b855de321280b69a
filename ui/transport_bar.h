// TransportBar: reset, play or pause, step, tempo, the timeline, and how far it is - with the sentence below.
//
// Live numbers have fixed widths, so that nothing moves when they change; one that does not fit makes its label wider.
#pragma once

#include <QWidget>

#include "ui/plots/theme.h"
#include "ui/session/session.h"

class QLabel;
class QPushButton;
class QSlider;
class QToolButton;

namespace mambarium {

class Timeline;

// The tempo slider is logarithmic: 0 is one step a second, its end full speed.
constexpr int full_tempo = 100;
double tempoOf(int slider_value);  // steps a second; 0: full speed
int sliderValueOf(double steps_per_second);

class TransportBar : public QWidget {
  Q_OBJECT
 public:
  explicit TransportBar(Session& session, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  void setSentence(const QString& sentence);
  QPushButton* playButton() const { return play_; }
  Timeline* timeline() const { return timeline_; }

 private:
  void refresh();
  void refreshButtons();
  void refreshNumbers();
  void fixWidths();

  Session& session_;
  Theme theme_;
  QToolButton* reset_;
  QPushButton* play_;
  QToolButton* step_;
  QSlider* tempo_;
  QLabel *tempo_text_, *progress_, *left_, *sentence_;
  Timeline* timeline_;
  bool shows_pause_ = false;
};

}  // namespace mambarium
