// MainWindow: arranges the form, the panels, the runs and the transport around a session, and gives every action a menu
// entry, a shortcut and a line in the palette. It owns the arrangement and nothing else.
#pragma once

#include <QAction>
#include <QMainWindow>
#include <QPointer>
#include <QTimer>

#include "ui/hint_bubble.h"
#include "ui/plots/theme.h"
#include "ui/session/session.h"
#include "ui/settings_dialog.h"

class QMenu;
class QSettings;
class QSplitter;
class QToolButton;

namespace mambarium {

class CommandPalette;
class ExperimentForm;
class NoticeArea;
class PanelArea;
class RunsView;
class SweepDialog;
class TransportBar;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(Session& session, QWidget* parent = nullptr);
  ~MainWindow() override;

  // What was saved when the last window closed. With nothing saved this is the first start: the hint shows.
  void restore(const QSettings& settings);
  void save(QSettings& settings);

  // As near to `wanted` as a window can be that lies on the screen with its frame.
  static QRect fitted(const QRect& wanted, const QRect& available);

  void setThemeChoice(ThemeChoice choice);
  void setPresentation(bool on);
  bool isPresentation() const { return presentation_; }
  void exportFigure(Panel* panel);  // opens the dialog
  // The window on a sweep's folder, one for each; `go_on` computes what is missing in it.
  SweepDialog* showSweep(const QString& folder, bool go_on);

  ExperimentForm& form() const { return *form_; }
  PanelArea& panels() const { return *panels_; }
  RunsView& runsView() const { return *runs_view_; }
  TransportBar& transport() const { return *transport_; }
  NoticeArea& notices() const { return *notices_; }
  CommandPalette& commandPalette() const { return *palette_box_; }
  HintBubble* hint() const { return hint_; }
  QAction* action(const QString& name) const;  // by object name, nullptr when there is none
  const QList<QAction*>& allActions() const { return actions_; }

 protected:
  void closeEvent(QCloseEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  // A click on a button leaves the focus where it is, and with it the space bar with Play; Tab goes on from the button.
  bool focusNextPrevChild(bool next) override;

 private:
  void arrange();
  void fitToScreen();
  void connectSession();
  void watch(Run* run);
  void applyTheme();
  void showHint();
  void refreshSentence();
  void refreshTitle();
  void flash(const QString& text);  // in the sentence's place, for a moment
  void noticeDeath(Run* run, const QString& reason, const QString& hint, const QString& last_words);
  void noticeProblem(const QString& message, const QString& hint, QObject* about = nullptr);
  void noticeFolder(const QString& message, const QString& hint);
  void noticeUnavailable(const QString& reason, const QString& hint, const QString& last_words);

  // main_window_actions.cpp
  void makeActions();
  void makeFileMenu();
  void makeEditMenu();
  void makeViewMenu();
  void makeRunMenu();
  void makeHelpMenu();
  QAction* add(QMenu* menu, const char* name, const QString& text, const QKeySequence& keys,
               std::function<void()> does);
  void adopt(QMenu* menu, QAction* action, const char* name);
  void refreshActions();
  void newExperiment();
  void openRun();
  void openSweep();
  void ablate();
  void editSettings();
  void copyShareString();
  void pasteShareString();
  void changeTempo(int slider_steps);
  void toggleLogAxis();
  void writeNote();
  Panel* panelInQuestion() const;  // below the mouse, maximised, or the first that is shown

  Session& session_;
  Theme theme_;
  ThemeChoice theme_choice_ = ThemeChoice::system;
  bool system_is_dark_ = false;
  bool presentation_ = false;
  QPointer<Panel> hovered_;
  QPointer<QWidget> clicked_;  // last, and the focus has been nowhere since
  QTimer flash_timer_;
  QString flashed_;

  QSplitter* split_ = nullptr;
  ExperimentForm* form_ = nullptr;
  PanelArea* panels_ = nullptr;
  RunsView* runs_view_ = nullptr;
  TransportBar* transport_ = nullptr;
  NoticeArea* notices_ = nullptr;
  CommandPalette* palette_box_ = nullptr;
  QToolButton* palette_button_ = nullptr;
  QPointer<HintBubble> hint_;
  QList<QAction*> actions_;
};

}  // namespace mambarium
