#include "ui/runs_view.h"

#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QFileInfo>
#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QPointer>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/run_row.h"

namespace mambarium {

RunsView::RunsView(Session& session, QWidget* parent) : QScrollArea(parent), session_(session) {
  setObjectName(QStringLiteral("runs"));
  setAccessibleName(tr("Runs"));
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFrameShape(QFrame::NoFrame);
  auto* const body = new QWidget;
  body->setProperty("role", QStringLiteral("sidebar"));
  column_ = new QVBoxLayout(body);
  column_->setContentsMargins(8, 8, 12, 16);
  column_->setSpacing(4);
  auto* const title = new QLabel(tr("Runs"));
  title->setProperty("role", QStringLiteral("title"));
  title->setContentsMargins(4, 0, 0, 4);
  column_->addWidget(title);
  empty_ = new QLabel(tr("Every run you start stands here, in its own colour."));
  empty_->setProperty("role", QStringLiteral("hint"));
  empty_->setWordWrap(true);
  empty_->setContentsMargins(4, 0, 0, 0);
  column_->addWidget(empty_);
  column_->addStretch(1);
  setWidget(body);

  RunList& runs = session_.runs();
  for (int index = 0; index < runs.count(); ++index) addRow(runs.at(index));
  connect(&runs, &RunList::added, this, &RunsView::addRow);
  connect(&runs, &RunList::aboutToRemove, this, &RunsView::removeRow);
  connect(&runs, &RunList::currentChanged, this, &RunsView::markCurrent);
  markCurrent(runs.current());
}

void RunsView::setTheme(const Theme& theme) {
  theme_ = theme;
  setMinimumWidth(theme.px(228));
  for (RunRow* const row : rows_) row->setTheme(theme);
}

void RunsView::addRow(Run* run) {
  auto* const row = new RunRow(*run);
  row->setTheme(theme_);
  rows_.push_back(row);
  column_->insertWidget(column_->count() - 1, row);
  empty_->hide();
  connect(row, &RunRow::chosen, this, [this, run] { session_.runs().setCurrent(run); });
  connect(row, &RunRow::menuRequested, this, [this, run](const QPoint& where) { makeMenu(run)->popup(where); });
}

void RunsView::removeRow(Run* run) {
  RunRow* const row = rowOf(run);
  if (!row) return;
  std::erase(rows_, row);
  row->setParent(nullptr);
  row->deleteLater();
  disconnect(run, nullptr, row, nullptr);
  empty_->setVisible(rows_.empty());
}

RunRow* RunsView::rowOf(const Run* run) const {
  for (RunRow* const row : rows_) {
    if (&row->run() == run) return row;
  }
  return nullptr;
}

void RunsView::editNote(Run* run) {
  if (RunRow* const row = rowOf(run)) row->editNote();
}

void RunsView::markCurrent(Run* run) {
  for (RunRow* const row : rows_) row->setCurrent(&row->run() == run);
  if (RunRow* const row = rowOf(run)) ensureWidgetVisible(row);
}

QMenu* RunsView::makeMenu(Run* run) {
  auto* const menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const QPointer<Run> guard(run);
  const auto add = [&](const QString& text, auto does, bool enabled = true) {
    QAction* const action = menu->addAction(text, this, [guard, does] {
      if (guard) does(guard.data());
    });
    action->setEnabled(enabled);
    return action;
  };
  add(
      tr("Continue from the last checkpoint"), [this](Run* it) { session_.continueRun(it); }, run->canContinue());
  menu->addSeparator();
  add(tr("Rename…"), [this](Run* it) { rename(it); });
  add(tr("Write a note"), [this](Run* it) { editNote(it); });
  addColourMenu(menu, run);
  add(run->isShown() ? tr("Hide its curves") : tr("Show its curves"), [](Run* it) { it->setShown(!it->isShown()); });
  menu->addSeparator();
  add(tr("Copy share string"), [this](Run* it) {
    QApplication::clipboard()->setText(QString::fromStdString(share_string(it->config())));
    Q_EMIT messageRequested(tr("The settings of the run are on the clipboard."));
  });
  add(
      tr("Copy path of its folder"), [](Run* it) { QApplication::clipboard()->setText(it->folder()); },
      !run->folder().isEmpty());
  add(
      tr("Show folder"), [](Run* it) { QDesktopServices::openUrl(QUrl::fromLocalFile(it->folder())); },
      QFileInfo(run->folder()).isDir());
  add(tr("Export a figure…"), [this](Run* it) {
    session_.runs().setCurrent(it);
    Q_EMIT exportRequested();
  });
  menu->addSeparator();
  add(tr("Remove from the list"), [this](Run* it) {
    session_.removeRun(it);
  })->setToolTip(tr("Its folder stays on disk"));
  return menu;
}

void RunsView::addColourMenu(QMenu* menu, Run* run) {
  static const char* const names[RunList::palette_size] = {
      QT_TR_NOOP("Blue"),   QT_TR_NOOP("Vermillion"), QT_TR_NOOP("Bluish green"), QT_TR_NOOP("Reddish purple"),
      QT_TR_NOOP("Orange"), QT_TR_NOOP("Sky blue"),   QT_TR_NOOP("Yellow"),       QT_TR_NOOP("Black or white")};
  QMenu* const colours = menu->addMenu(tr("Colour"));
  for (int index = 0; index < RunList::palette_size; ++index) {
    QAction* const action = colours->addAction(theme_.runIcon(index, index), tr(names[index]), run,
                                               [run, index] { run->setLook(index, index); });
    action->setCheckable(true);
    action->setChecked(run->paletteIndex() == index);
  }
}

void RunsView::rename(Run* run) {
  const QPointer<Run> guard(run);
  auto* const dialog = new QInputDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Rename run"));
  dialog->setLabelText(tr("Name in lists and legends (empty: its settings)"));
  dialog->setTextValue(run->name());
  connect(dialog, &QInputDialog::textValueSelected, this, [guard](const QString& name) {
    if (guard) guard->setName(name.trimmed());
  });
  dialog->open();
}

}  // namespace mambarium
