#include "ui/open_run_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <cmath>

#include "ui/plots/number_text.h"

namespace mambarium {

OpenRunDialog::OpenRunDialog(Session& session, QWidget* parent) : QDialog(parent), session_(session) {
  setWindowTitle(tr("Open run"));
  setObjectName(QStringLiteral("open-run"));
  machine_ = new QComboBox;
  machine_->setAccessibleName(tr("Machine"));
  for (const Machine& machine : session.machines().list) machine_->addItem(machine.name);
  machine_->setCurrentIndex(session.machines().current);
  root_ = new QLineEdit(session.machines().selected().runs_folder);
  root_->setObjectName(QStringLiteral("runs-root"));
  root_->setAccessibleName(tr("Folder that holds runs, or one run's folder"));
  auto* const look_button = new QPushButton(tr("Look"));
  look_button->setObjectName(QStringLiteral("look"));
  look_button->setAccessibleName(tr("Look into this folder"));
  list_ = new QTreeWidget;
  list_->setObjectName(QStringLiteral("runs-found"));
  list_->setAccessibleName(tr("Runs in the folder"));
  list_->setHeaderLabels({tr("Run"), tr("State"), tr("Step"), tr("Gap"), tr("Folder")});
  list_->setRootIsDecorated(false);
  list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  list_->setUniformRowHeights(true);
  list_->header()->setStretchLastSection(true);
  message_ = new QLabel;
  message_->setProperty("role", QStringLiteral("hint"));
  message_->setWordWrap(true);
  auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel);
  open_ = buttons->button(QDialogButtonBox::Open);

  auto* const place = new QHBoxLayout;
  place->addWidget(machine_);
  place->addWidget(root_, 1);
  place->addWidget(look_button);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(24, 24, 24, 16);
  column->setSpacing(12);
  column->addLayout(place);
  column->addWidget(list_, 1);
  column->addWidget(message_);
  column->addWidget(buttons);
  resize(760, 480);

  connect(machine_, &QComboBox::activated, this, [this](int index) {
    root_->setText(session_.machines().list.at(index).runs_folder);
    look();
  });
  connect(look_button, &QPushButton::clicked, this, &OpenRunDialog::look);
  connect(root_, &QLineEdit::textEdited, this, &OpenRunDialog::refreshOpen);
  connect(list_, &QTreeWidget::itemSelectionChanged, this, &OpenRunDialog::refreshOpen);
  connect(list_, &QTreeWidget::itemDoubleClicked, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  look();
}

void OpenRunDialog::look() {
  list_->clear();
  refreshOpen();
  message_->setText(tr("Looking …"));
  const int asked = ++question_;
  const QPointer<OpenRunDialog> self(this);
  session_.library().list(
      machine(), root_->text(),
      [self, asked](const std::vector<RunSummary>& runs) {
        if (self && self->question_ == asked) self->fill(runs);
      },
      [self, asked](const LibraryError& error) {
        if (self && self->question_ == asked)
          self->message_->setText(QStringLiteral("%1 %2").arg(error.message, error.hint));
      });
}

void OpenRunDialog::fill(const std::vector<RunSummary>& runs) {
  for (const RunSummary& run : runs) {
    const QString gap = std::isfinite(run.gap_add_beta) ? natsText(run.gap_add_beta) : QString();
    auto* const item = new QTreeWidgetItem({QString::fromStdString(run.title), QString::fromStdString(run.status),
                                            tr("%1 of %2").arg(stepText(run.step), stepText(run.steps)), gap,
                                            QString::fromStdString(run.name)});
    item->setData(0, Qt::UserRole, QString::fromStdString(run.folder));
    for (const int number : {2, 3}) item->setTextAlignment(number, Qt::AlignRight | Qt::AlignVCenter);
    list_->addTopLevelItem(item);
  }
  for (int column = 0; column < list_->columnCount(); ++column) list_->resizeColumnToContents(column);
  message_->setText(runs.empty()       ? tr("There are no runs in this folder; Open tries the folder itself as a run.")
                    : runs.size() == 1 ? tr("One run.")
                                       : tr("%1 runs, newest first.").arg(runs.size()));
  refreshOpen();
}

void OpenRunDialog::refreshOpen() {
  open_->setEnabled(!folders().isEmpty());
}

Machine OpenRunDialog::machine() const {
  return session_.machines().list.at(machine_->currentIndex());
}

QStringList OpenRunDialog::folders() const {
  QStringList chosen;
  const QList<QTreeWidgetItem*> items = list_->selectedItems();
  for (const QTreeWidgetItem* const item : items) chosen.append(item->data(0, Qt::UserRole).toString());
  const QString typed = root_->text().trimmed();
  if (chosen.isEmpty() && list_->topLevelItemCount() == 0 && !typed.isEmpty()) chosen.append(typed);
  return chosen;
}

}  // namespace mambarium
