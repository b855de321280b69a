// The part of MainWindow that makes its menus: every action once, with its shortcut and its place in the palette.

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QStandardPaths>
#include <algorithm>

#include "ui/ablation_dialog.h"
#include "ui/command_palette.h"
#include "ui/figure/export_dialog.h"
#include "ui/form/experiment_form.h"
#include "ui/help_dialogs.h"
#include "ui/main_window.h"
#include "ui/open_run_dialog.h"
#include "ui/panel_area.h"
#include "ui/run_text.h"
#include "ui/runs_view.h"
#include "ui/selftest_dialog.h"
#include "ui/session/problem_text.h"
#include "ui/sweep_dialog.h"
#include "ui/transport_bar.h"

namespace mambarium {

namespace {

QString plain(QString text) {
  return text.remove(QLatin1Char('&'));
}

}  // namespace

QAction* MainWindow::add(QMenu* menu, const char* name, const QString& text, const QKeySequence& keys,
                         std::function<void()> does) {
  auto* const action = new QAction(text, this);
  action->setShortcut(keys);
  connect(action, &QAction::triggered, this, std::move(does));
  adopt(menu, action, name);
  return action;
}

void MainWindow::adopt(QMenu* menu, QAction* action, const char* name) {
  action->setObjectName(QLatin1String(name));
  action->setProperty("group", plain(menu->title()));
  menu->addAction(action);
  addAction(action);  // its shortcut works while the menu bar is hidden
  actions_.append(action);
}

QAction* MainWindow::action(const QString& name) const {
  for (QAction* const known : actions_) {
    if (known->objectName() == name) return known;
  }
  return nullptr;
}

void MainWindow::makeActions() {
  makeFileMenu();
  makeEditMenu();
  makeViewMenu();
  makeRunMenu();
  makeHelpMenu();
  palette_box_->setActions(actions_);
  refreshActions();
}

void MainWindow::makeFileMenu() {
  QMenu* const menu = menuBar()->addMenu(tr("&File"));
  add(menu, "new", tr("&New experiment"), QKeySequence::New, [this] { newExperiment(); });
  add(menu, "open-run", tr("&Open run…"), QKeySequence::Open, [this] { openRun(); });
  add(menu, "open-sweep", tr("Open a s&weep…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O),
      [this] { openSweep(); });
  add(menu, "export", tr("&Export figure…"), QKeySequence(Qt::CTRL | Qt::Key_E),
      [this] { exportFigure(panelInQuestion()); });
  menu->addSeparator();
  add(menu, "quit", tr("&Quit"), QKeySequence::Quit, [this] { close(); });
}

void MainWindow::makeEditMenu() {
  QMenu* const menu = menuBar()->addMenu(tr("&Edit"));
  QUndoStack& history = session_.draft().history();
  QAction* const undo = history.createUndoAction(this, tr("&Undo"));
  undo->setShortcut(QKeySequence::Undo);
  adopt(menu, undo, "undo");
  QAction* const redo = history.createRedoAction(this, tr("&Redo"));
  redo->setShortcuts({QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)});
  adopt(menu, redo, "redo");
  menu->addSeparator();
  add(menu, "copy-share", tr("&Copy share string"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C),
      [this] { copyShareString(); });
  add(menu, "paste-share", tr("&Paste share string"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_V),
      [this] { pasteShareString(); });
  menu->addSeparator();
  add(menu, "settings", tr("&Settings…"), QKeySequence(Qt::CTRL | Qt::Key_Comma), [this] { editSettings(); });
}

void MainWindow::makeViewMenu() {
  QMenu* const menu = menuBar()->addMenu(tr("&View"));
  QMenu* const theme = menu->addMenu(tr("&Appearance"));
  auto* const choices = new QActionGroup(this);
  const auto addTheme = [&](const char* name, const QString& text, ThemeChoice choice) {
    QAction* const entry = add(theme, name, text, {}, [this, choice] { setThemeChoice(choice); });
    entry->setCheckable(true);
    choices->addAction(entry);
  };
  addTheme("theme-system", tr("As the &system"), ThemeChoice::system);
  addTheme("theme-light", tr("&Light"), ThemeChoice::light);
  addTheme("theme-dark", tr("&Dark"), ThemeChoice::dark);

  add(menu, "presentation", tr("&Presentation mode"), QKeySequence(Qt::Key_F11), [this] {
    setPresentation(!presentation_);
  })->setCheckable(true);
  add(menu, "log-axis", tr("&Log axis of the loss gap"), {}, [this] {
    toggleLogAxis();
  })->setProperty("keys", QStringLiteral("L"));  // the panel itself has the shortcut
  menu->addSeparator();
  const auto addToggle = [&](const char* name, const QString& text, QWidget* widget) {
    QAction* const entry = add(menu, name, text, {}, [] {});
    entry->setCheckable(true);
    entry->setChecked(true);
    connect(entry, &QAction::toggled, this, [this, widget](bool on) { widget->setVisible(on && !presentation_); });
  };
  addToggle("show-form", tr("&Experiment"), form_);
  addToggle("show-runs", tr("&Runs"), runs_view_);
  QMenu* const shown = menu->addMenu(tr("P&anels"));
  for (const Panel* const panel : panels_->panels()) {
    adopt(shown, panels_->showAction(panel), qPrintable(QStringLiteral("show-") + panel->id()));
  }
  QMenu* const large = menu->addMenu(tr("&Maximise"));
  int number = 1;
  for (Panel* const panel : panels_->panels()) {
    add(large, qPrintable(QStringLiteral("maximise-") + panel->id()), panel->title(),
        QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + number)), [this, panel] {
          panels_->maximise(panels_->maximised() == panel ? nullptr : panel);
          refreshActions();
          refreshSentence();
        });
    ++number;
  }
}

void MainWindow::makeRunMenu() {
  QMenu* const menu = menuBar()->addMenu(tr("&Run"));
  add(menu, "play", tr("&Play or pause"), QKeySequence(Qt::Key_Space), [this] { session_.togglePlay(); });
  add(menu, "pause-all", tr("P&ause every run"), QKeySequence(Qt::CTRL | Qt::Key_Period),
      [this] { session_.pauseAll(); });
  add(menu, "step", tr("&Step"), QKeySequence(Qt::Key_Right), [this] { session_.step(); });
  add(menu, "reset", tr("&Reset"), QKeySequence(Qt::CTRL | Qt::Key_R), [this] { session_.reset(); });
  menu->addSeparator();
  add(menu, "faster", tr("&Faster"), QKeySequence(Qt::Key_Plus), [this] { changeTempo(10); });
  add(menu, "slower", tr("S&lower"), QKeySequence(Qt::Key_Minus), [this] { changeTempo(-10); });
  add(menu, "full-speed", tr("F&ull speed"), QKeySequence(Qt::Key_0), [this] { session_.setTempo(0); });
  menu->addSeparator();
  add(menu, "ablate", tr("A&blate parts…"), {}, [this] { ablate(); });
  menu->addSeparator();
  add(menu, "checkpoint", tr("&Write a checkpoint now"), {}, [this] {
    session_.runs().current()->writeCheckpoint();
    flash(tr("The worker writes a checkpoint of this step."));
  });
  add(menu, "now", tr("Show the model as it is &now"), {}, [this] { session_.feed().setCheckpoint(std::nullopt); });
  menu->addSeparator();
  add(menu, "continue", tr("&Continue from the last checkpoint"), {},
      [this] { session_.continueRun(session_.runs().current()); });
  add(menu, "note", tr("Write a no&te"), {}, [this] { writeNote(); });
  add(menu, "remove", tr("Re&move from the list"), {}, [this] { session_.removeRun(session_.runs().current()); });
}

void MainWindow::makeHelpMenu() {
  QMenu* const menu = menuBar()->addMenu(tr("&Help"));
  add(menu, "first-steps", tr("&First steps"), QKeySequence(Qt::Key_F1),
      [this] { makeFirstStepsDialog(this)->show(); });
  add(menu, "shortcuts", tr("&Keyboard shortcuts"), {}, [this] { makeShortcutsDialog(actions_, this)->show(); });
  add(menu, "palette", tr("&Commands…"), QKeySequence(Qt::CTRL | Qt::Key_K), [this] { palette_box_->open(); });
  add(menu, "selftest", tr("Check t&he kernels…"), {},
      [this] { (new SelftestDialog(session_.machines().selected(), this))->show(); });
  menu->addSeparator();
  add(menu, "about", tr("&About Mambarium"), {}, [this] { makeAboutDialog(this)->show(); });
}

void MainWindow::refreshActions() {
  const Run* const run = session_.runs().current();
  const bool training = session_.playPauses();
  const bool can_play = session_.playObstacle().isEmpty();
  action(QStringLiteral("play"))->setEnabled(training || can_play);
  action(QStringLiteral("pause-all"))->setEnabled(session_.anyTraining());
  action(QStringLiteral("step"))->setEnabled(!training && can_play);
  for (const char* const name : {"reset", "note", "remove"}) action(QLatin1String(name))->setEnabled(run);
  action(QStringLiteral("checkpoint"))->setEnabled(run && run->isOpen());
  action(QStringLiteral("continue"))->setEnabled(run && run->canContinue());
  action(QStringLiteral("now"))->setEnabled(session_.feed().checkpoint().has_value());
  action(QStringLiteral("presentation"))->setChecked(presentation_);
  action(QStringLiteral("theme-") + toKey(theme_choice_))->setChecked(true);
}

void MainWindow::newExperiment() {
  const std::vector<Preset>& presets = form_->presets();
  session_.draft().replace(presets.empty() ? ExperimentConfig() : presets.front().config, tr("New experiment"), true);
}

void MainWindow::openRun() {
  auto* const dialog = new OpenRunDialog(session_, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    const QStringList folders = dialog->folders();
    for (const QString& folder : folders) session_.openFolder(dialog->machine(), folder);
  });
  dialog->open();
}

void MainWindow::openSweep() {
  auto* const dialog = new QFileDialog(this, tr("Open a sweep"), session_.machines().selected().runs_folder,
                                       tr("Sweeps (results.json plan.json)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this,
          [this](const QString& file) { showSweep(QFileInfo(file).absolutePath(), false); });
  dialog->open();
}

void MainWindow::ablate() {
  auto* const dialog = new AblationDialog(session_.draft().config(), session_.machines().selected(), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] { showSweep(dialog->folder(), true); });
  dialog->open();
}

SweepDialog* MainWindow::showSweep(const QString& folder, bool go_on) {
  const auto open = findChildren<SweepDialog*>();
  const auto known = std::find_if(open.begin(), open.end(), [&](const SweepDialog* sweep) {
    return sweep->folder() == folder && sweep->isVisible();
  });
  auto* const sweep =
      known == open.end() ? new SweepDialog(session_.machines().selected(), folder, theme_, this) : *known;
  sweep->show();
  sweep->raise();
  sweep->activateWindow();
  if (go_on) sweep->goOn();
  return sweep;
}

void MainWindow::exportFigure(Panel* panel) {
  if (!panel->hasData()) {
    flash(tr("There is nothing to export yet: press play, and the panel fills."));
    return;
  }
  // Beside the run where it is on this computer; a remote run's figures go to the pictures.
  const Run* const run = session_.runs().current();
  const bool is_here = run && QFileInfo(run->folder()).isDir();
  const QString folder = is_here ? run->folder() + QStringLiteral("/figures")
                                 : QDir(QStandardPaths::writableLocation(QStandardPaths::PicturesLocation))
                                       .filePath(QStringLiteral("Mambarium"));
  auto* const dialog = new ExportDialog(*panel, folder, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  const bool of_model = panel->wants().has_value(), is_replay = session_.feed().checkpoint().has_value();
  for (int index = 0; index < session_.runs().count(); ++index) {
    const Run* const other = session_.runs().at(index);
    const bool is_drawn = of_model ? other == run && !is_replay : other->isShown();
    if (!is_drawn || !other->isTraining()) continue;
    dialog->setAsOf(other->step());
    if (other == run) break;
  }
  connect(dialog, &ExportDialog::saved, this, [this](const QString& path) { flash(tr("Saved %1.").arg(path)); });
  dialog->open();
}

void MainWindow::editSettings() {
  auto* const dialog = new SettingsDialog(session_.machines(), theme_choice_, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    session_.setMachines(dialog->machines());
    setThemeChoice(dialog->theme());
  });
  dialog->open();
}

void MainWindow::copyShareString() {
  QApplication::clipboard()->setText(QString::fromStdString(share_string(session_.draft().config())));
  flash(tr("The settings are on the clipboard as one line of text."));
}

void MainWindow::pasteShareString() {
  const QString text = QApplication::clipboard()->text().trimmed();
  const ParsedConfig parsed = config_from_share_string(text.toStdString());
  if (!parsed.problems.empty()) {
    noticeProblem(tr("The clipboard does not hold settings that can be used. %1").arg(toSentences(parsed.problems)),
                  {});
    return;
  }
  session_.draft().replace(parsed.config, tr("Pasted settings"), true);
}

void MainWindow::changeTempo(int slider_steps) {
  const int value = std::clamp(sliderValueOf(session_.tempo()) + slider_steps, 0, full_tempo);
  session_.setTempo(tempoOf(value));
  flash(tr("Tempo: %1.").arg(tempoText(session_.tempo())));
}

void MainWindow::toggleLogAxis() {
  Panel* const gap = panels_->panel(QStringLiteral("gap"));
  const nlohmann::json options = gap->options();
  gap->setOptions({{"log", !options.value("log", true)}});
}

void MainWindow::writeNote() {
  setPresentation(false);
  action(QStringLiteral("show-runs"))->setChecked(true);
  runs_view_->editNote(session_.runs().current());
}

Panel* MainWindow::panelInQuestion() const {
  if (hovered_) return hovered_;
  if (panels_->maximised()) return panels_->maximised();
  for (Panel* const panel : panels_->panels()) {
    if (panel->isVisible()) return panel;
  }
  return panels_->panels().front();
}

}  // namespace mambarium
