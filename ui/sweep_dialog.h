// SweepDialog: a window on a sweep's folder. It shows the sweep's figure with its choices, its caption, and hands out
// the figure and the numbers; while the sweep is computed, or could be gone on with, also how far it is.
//
// A folder can be gone on with when it holds the sweep's own file (sweep.json), as the ablations do that the window
// starts; others are computed on the command line. Closing the window stops the process, which leaves checkpoints. GUI
// thread only.
#pragma once

#include <QDialog>
#include <QTimer>

#include "ui/plots/sweep_panel.h"
#include "ui/session/sweep_process.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace mambarium {

class SweepDialog : public QDialog {
  Q_OBJECT
 public:
  // `folder`: of a sweep, which may hold nothing but sweep.json yet. `machine` computes what is missing.
  SweepDialog(const Machine& machine, const QString& folder, const Theme& theme, QWidget* parent = nullptr);

  static QString sweepFileIn(const QString& folder);

  const QString& folder() const { return folder_; }
  SweepPanel& panel() const { return *panel_; }
  const SweepProcess& process() const { return process_; }
  QString standing() const;  // "12 of 24 models, 0:48 left", "" when all are there
  QString problem() const;   // of reading or computing, "" for none
  void setTheme(const Theme& theme);
  void goOn();  // starts the process, unless it runs or everything is there

 protected:
  void closeEvent(QCloseEvent* event) override;

 private:
  void build();
  void read();
  void refresh();
  void say(const QString& problem);
  void exportFigure();

  Machine machine_;
  QString folder_;
  std::size_t done_at_start_ = 0;
  std::shared_ptr<const SweepData> data_;
  SweepProcess process_;
  QTimer read_soon_;  // points may come faster than they can be drawn
  SweepPanel* panel_;
  QLabel* caption_;
  QLabel* standing_;
  QLabel* problem_;
  QProgressBar* bar_;
  QPushButton* stop_;
  QPushButton* go_on_;
};

}  // namespace mambarium
