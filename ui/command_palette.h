// CommandPalette: every action of the window by name (Ctrl+K). Type a few letters of it, press Enter.
#pragma once

#include <QFrame>
#include <QList>

class QAction;
class QLineEdit;
class QTreeWidget;

namespace mambarium {

class CommandPalette : public QFrame {
  Q_OBJECT
 public:
  explicit CommandPalette(QWidget* window);

  void setActions(const QList<QAction*>& actions);
  void open();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void fill(const QString& typed);
  void runSelected();
  void leave();
  void place();

  QList<QAction*> actions_;
  QLineEdit* search_;
  QTreeWidget* list_;
};

}  // namespace mambarium
