// SettingsDialog: what belongs to this computer and not to an experiment - the machines that workers run on, and the
// appearance. Nothing changes before OK.
#pragma once

#include <QDialog>

#include "ui/session/machine.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace mambarium {

class WorkerClient;

enum class ThemeChoice { system, light, dark };
QString toKey(ThemeChoice choice);  // "system", "light", "dark"
ThemeChoice themeChoiceFrom(const QString& key);

class SettingsDialog : public QDialog {
  Q_OBJECT
 public:
  SettingsDialog(const Machines& machines, ThemeChoice theme, QWidget* parent = nullptr);

  Machines machines() const;
  ThemeChoice theme() const;

 private:
  void showMachine(int index);
  void keepMachine();
  void addMachine();
  void removeMachine();
  void checkWorker();

  Machines machines_;
  int shown_ = -1;
  QComboBox *machine_, *theme_;
  QLineEdit *name_, *command_, *folder_;
  QLabel* verdict_;
  QPushButton* remove_;
  WorkerClient* checked_ = nullptr;
};

}  // namespace mambarium
