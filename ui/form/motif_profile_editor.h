// MotifProfileEditor: a profile of one's own, drawn as 13 bars, with what they add up to and profiles to begin with:
// the cortical ones, a single motif, the bars brought to the sum 1, and none. It has no text field: who shows one
// beside it passes texts on through setProfile() and changed(), so that both agree.
#pragma once

#include <QWidget>

class QLabel;
class QMenu;
class QPushButton;

namespace mambarium {

class MotifProfileChart;

class MotifProfileEditor : public QWidget {
  Q_OBJECT
 public:
  explicit MotifProfileEditor(QWidget* parent = nullptr);

  void setProfile(const QString& text);  // as the setting has it; reports nothing
  MotifProfileChart* chart() const { return chart_; }
  QPushButton* beginButton() const { return begin_; }  // its menu() has what one can begin with

 Q_SIGNALS:
  void changed(const QString& profile);  // by a person, at every step of a motion
  void settled();                        // a whole motion is over, or another one begins

 private:
  void fillMenu();
  void refresh();

  MotifProfileChart* chart_;
  QLabel* sum_;
  QPushButton* begin_;
  QAction* to_one_ = nullptr;
};

}  // namespace mambarium
