// PanelArea: the panels in two columns whose borders can be dragged, or in one that scrolls where two would be too
// narrow. A row of buttons above them, one for each panel, shows and hides: five are there at first, the others are one
// click away, and one that cannot be seen asks for nothing. One panel may fill the area for a while, shown or not; that
// changes nothing about the arrangement.
#pragma once

#include <QMap>
#include <QWidget>
#include <vector>

#include "ui/plots/panel.h"
#include "ui/plots/theme.h"

class QAction;
class QMenu;
class QScrollArea;
class QSettings;
class QSplitter;
class QToolBar;
class QToolButton;

namespace mambarium {

class PanelArea : public QWidget {
  Q_OBJECT
 public:
  explicit PanelArea(std::vector<Panel*> panels, QWidget* parent = nullptr);

  const std::vector<Panel*>& panels() const { return panels_; }
  Panel* panel(const QString& id) const;          // nullptr for an unknown id
  QAction* showAction(const Panel* panel) const;  // checkable: shown or hidden
  Panel* maximised() const { return maximised_; }
  void maximise(Panel* panel);  // nullptr: those that are shown again

  void setTheme(const Theme& theme);
  void save(QSettings& settings) const;
  void restore(const QSettings& settings);
  QMenu* makeMenu(Panel* panel);

 Q_SIGNALS:
  void exportRequested(mambarium::Panel* panel);
  void captionCopied();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange();
  void showOrHide(Panel* panel, bool shown);
  void makeRoomFor(Panel* panel);
  void addMenuButton(Panel* panel);
  QToolButton* morePanels() const;  // of the row of panels, where it is too narrow for all
  void connectPanels();

  std::vector<Panel*> panels_;
  QMap<const Panel*, QAction*> shown_;
  QMap<Panel*, QToolButton*> menus_;
  QToolBar* chooser_;
  QScrollArea* scroll_;
  QSplitter *columns_, *left_, *right_;
  Theme theme_;
  Panel* maximised_ = nullptr;
};

}  // namespace mambarium
