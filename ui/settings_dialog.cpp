#include "ui/settings_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>

#include "ui/session/worker_client.h"

namespace mambarium {

QString toKey(ThemeChoice choice) {
  switch (choice) {
    case ThemeChoice::light:
      return QStringLiteral("light");
    case ThemeChoice::dark:
      return QStringLiteral("dark");
    case ThemeChoice::system:
      break;
  }
  return QStringLiteral("system");
}

ThemeChoice themeChoiceFrom(const QString& key) {
  if (key == QStringLiteral("light")) return ThemeChoice::light;
  if (key == QStringLiteral("dark")) return ThemeChoice::dark;
  return ThemeChoice::system;
}

SettingsDialog::SettingsDialog(const Machines& machines, ThemeChoice theme, QWidget* parent)
    : QDialog(parent), machines_(machines) {
  setWindowTitle(tr("Settings"));
  setObjectName(QStringLiteral("settings"));
  machine_ = new QComboBox;
  machine_->setObjectName(QStringLiteral("machine"));
  machine_->setAccessibleName(tr("Machine that new runs use"));
  auto* const add = new QPushButton(tr("Add"));
  add->setObjectName(QStringLiteral("add-machine"));
  add->setAccessibleName(tr("Add a machine"));
  remove_ = new QPushButton(tr("Remove"));
  remove_->setAccessibleName(tr("Remove this machine"));
  name_ = new QLineEdit;
  name_->setObjectName(QStringLiteral("machine-name"));
  name_->setAccessibleName(tr("Name of the machine"));
  command_ = new QLineEdit;
  command_->setObjectName(QStringLiteral("worker-command"));
  command_->setAccessibleName(tr("Worker command"));
  command_->setPlaceholderText(tr("mambarium-worker of this program"));
  command_->setToolTip(
      tr("Any command that speaks Mambarium's protocol, for example: ssh gpu-box mambarium-worker serve"));
  folder_ = new QLineEdit;
  folder_->setObjectName(QStringLiteral("runs-folder"));
  folder_->setAccessibleName(tr("Folder for runs"));
  folder_->setToolTip(tr("On the machine where the worker runs"));
  auto* const check = new QPushButton(tr("Check"));
  check->setObjectName(QStringLiteral("check-worker"));
  check->setAccessibleName(tr("Start the worker and see whether it answers"));
  verdict_ = new QLabel(tr("Check starts the worker once and shows what it says."));
  verdict_->setObjectName(QStringLiteral("verdict"));
  verdict_->setProperty("role", QStringLiteral("hint"));
  verdict_->setWordWrap(true);
  verdict_->setMinimumHeight(3 * fontMetrics().height());
  verdict_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  theme_ = new QComboBox;
  theme_->setObjectName(QStringLiteral("theme"));
  theme_->setAccessibleName(tr("Appearance"));
  theme_->addItems({tr("As the system"), tr("Light"), tr("Dark")});
  theme_->setCurrentIndex(static_cast<int>(theme));

  auto* const choice = new QHBoxLayout;
  choice->addWidget(machine_, 1);
  choice->addWidget(add);
  choice->addWidget(remove_);
  auto* const command = new QHBoxLayout;
  command->addWidget(command_, 1);
  command->addWidget(check);
  auto* const form = new QFormLayout(this);
  form->setContentsMargins(24, 24, 24, 16);
  form->setVerticalSpacing(12);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form->addRow(tr("New runs use"), choice);
  form->addRow(tr("Name"), name_);
  form->addRow(tr("Worker command"), command);
  form->addRow(QString(), verdict_);
  form->addRow(tr("Folder for runs"), folder_);
  form->addRow(tr("Appearance"), theme_);
  auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  form->addRow(buttons);
  setMinimumWidth(560);

  for (const Machine& machine : machines_.list) machine_->addItem(machine.name);
  connect(machine_, &QComboBox::currentIndexChanged, this, &SettingsDialog::showMachine);
  connect(add, &QPushButton::clicked, this, &SettingsDialog::addMachine);
  connect(remove_, &QPushButton::clicked, this, &SettingsDialog::removeMachine);
  connect(check, &QPushButton::clicked, this, &SettingsDialog::checkWorker);
  connect(name_, &QLineEdit::textEdited, this, [this](const QString& name) { machine_->setItemText(shown_, name); });
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  {
    const QSignalBlocker blocker(machine_);
    machine_->setCurrentIndex(machines_.current);
  }
  showMachine(machines_.current);
}

void SettingsDialog::keepMachine() {
  if (shown_ < 0 || shown_ >= machines_.list.size()) return;
  machines_.list[shown_] = {name_->text().trimmed(), command_->text().trimmed(), folder_->text().trimmed()};
}

void SettingsDialog::showMachine(int index) {
  keepMachine();
  shown_ = index;
  if (index < 0) return;
  const Machine& machine = machines_.list.at(index);
  name_->setText(machine.name);
  command_->setText(machine.command);
  folder_->setText(machine.runs_folder);
  remove_->setEnabled(machines_.list.size() > 1);
}

void SettingsDialog::addMachine() {
  keepMachine();
  machines_.list.append(
      {tr("Another machine"), QStringLiteral("ssh gpu-box mambarium-worker serve"), QStringLiteral("mambarium/runs")});
  machine_->addItem(machines_.list.last().name);
  machine_->setCurrentIndex(machine_->count() - 1);
  name_->setFocus();
  name_->selectAll();
}

void SettingsDialog::removeMachine() {
  const int index = shown_;
  shown_ = -1;
  machines_.list.removeAt(index);
  machine_->removeItem(index);
  showMachine(machine_->currentIndex());
}

void SettingsDialog::checkWorker() {
  keepMachine();
  delete checked_;
  checked_ = new WorkerClient(this);
  verdict_->setText(tr("Starting the worker …"));
  connect(checked_, &WorkerClient::ready, this, [this](const HelloReport& hello) {
    verdict_->setText(tr("It answers: %1 %2 on %3, device %4.")
                          .arg(QString::fromStdString(hello.program), QString::fromStdString(hello.version),
                               QString::fromStdString(hello.host), QString::fromStdString(hello.device)));
    checked_->close();
  });
  connect(checked_, &WorkerClient::ended, this, [this](const QString& reason, const QString& hint) {
    if (reason.isEmpty()) return;
    const QString words = checked_->lastWords();
    verdict_->setText(words.isEmpty() ? QStringLiteral("%1 %2").arg(reason, hint)
                                      : tr("%1 Its last words: %2").arg(reason, words.right(300)));
  });
  checked_->start(workerCommand(machines_.list.at(shown_)));
}

Machines SettingsDialog::machines() const {
  Machines result = machines_;
  const int index = machine_->currentIndex();
  result.list[index] = {name_->text().trimmed(), command_->text().trimmed(), folder_->text().trimmed()};
  result.current = index;
  return result;
}

ThemeChoice SettingsDialog::theme() const {
  return static_cast<ThemeChoice>(theme_->currentIndex());
}

}  // namespace mambarium
