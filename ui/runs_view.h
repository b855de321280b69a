// RunsView: the list of runs. A click makes a run current; its menu has everything else that can be done with it.
#pragma once

#include <QScrollArea>
#include <vector>

#include "ui/plots/theme.h"
#include "ui/session/session.h"

class QLabel;
class QMenu;
class QVBoxLayout;

namespace mambarium {

class RunRow;

class RunsView : public QScrollArea {
  Q_OBJECT
 public:
  explicit RunsView(Session& session, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  RunRow* rowOf(const Run* run) const;  // nullptr when there is none
  void editNote(Run* run);
  QMenu* makeMenu(Run* run);  // the caller shows it; it deletes itself when it closes

 Q_SIGNALS:
  void exportRequested();
  void messageRequested(const QString& text);

 private:
  void addRow(Run* run);
  void removeRow(Run* run);
  void markCurrent(Run* run);
  void rename(Run* run);
  void addColourMenu(QMenu* menu, Run* run);

  Session& session_;
  Theme theme_;
  QVBoxLayout* column_;
  QLabel* empty_;
  std::vector<RunRow*> rows_;
};

}  // namespace mambarium
