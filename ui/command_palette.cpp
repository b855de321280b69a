#include "ui/command_palette.h"

#include <QAction>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPointer>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

namespace mambarium {

namespace {

QString titleOf(const QAction& action) {
  QString title = action.text();
  title.remove(QLatin1Char('&'));
  const QString group = action.property("group").toString();
  return group.isEmpty() ? title : group + QStringLiteral(": ") + title;
}

// Every word typed must begin a word of the title, or at least be inside it.
bool matches(const QString& title, const QString& typed) {
  const QStringList words = typed.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  return std::all_of(words.begin(), words.end(),
                     [&](const QString& word) { return title.contains(word, Qt::CaseInsensitive); });
}

}  // namespace

CommandPalette::CommandPalette(QWidget* window)
    : QFrame(window), search_(new QLineEdit(this)), list_(new QTreeWidget(this)) {
  setObjectName(QStringLiteral("palette"));
  setProperty("role", QStringLiteral("panel"));
  setAccessibleName(tr("Commands"));
  search_->setPlaceholderText(tr("Type a command"));
  search_->setAccessibleName(tr("Command"));
  list_->setAccessibleName(tr("Commands that match"));
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setColumnCount(2);
  list_->setHeaderHidden(true);
  list_->setRootIsDecorated(false);
  list_->setUniformRowHeights(true);
  list_->header()->setStretchLastSection(false);
  list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  list_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(8, 8, 8, 8);
  column->addWidget(search_);
  column->addWidget(list_);
  connect(search_, &QLineEdit::textChanged, this, &CommandPalette::fill);
  connect(list_, &QTreeWidget::itemClicked, this, &CommandPalette::runSelected);
  search_->installEventFilter(this);
  window->installEventFilter(this);
  hide();
}

void CommandPalette::setActions(const QList<QAction*>& actions) {
  actions_ = actions;
}

void CommandPalette::open() {
  search_->clear();
  fill({});
  place();
  show();
  raise();
  search_->setFocus();
}

void CommandPalette::place() {
  const QWidget* const window = parentWidget();
  const int width = std::min(560, window->width() - 64), height = std::min(420, window->height() - 96);
  setGeometry((window->width() - width) / 2, 48, width, height);
}

void CommandPalette::fill(const QString& typed) {
  list_->clear();
  for (QAction* const action : actions_) {
    if (!action->isEnabled() || !matches(titleOf(*action), typed)) continue;
    const QString keys = action->property("keys").toString();
    auto* const item = new QTreeWidgetItem(
        {titleOf(*action), keys.isEmpty() ? action->shortcut().toString(QKeySequence::NativeText) : keys});
    item->setData(0, Qt::UserRole, QVariant::fromValue(static_cast<void*>(action)));
    item->setSizeHint(0, QSize(0, list_->fontMetrics().height() + 10));
    list_->addTopLevelItem(item);
  }
  list_->setCurrentItem(list_->topLevelItem(0));
}

void CommandPalette::runSelected() {
  const QTreeWidgetItem* const item = list_->currentItem();
  if (!item) return;
  auto* const action = static_cast<QAction*>(item->data(0, Qt::UserRole).value<void*>());
  leave();
  action->trigger();
}

void CommandPalette::leave() {
  hide();
  parentWidget()->setFocus();
}

bool CommandPalette::eventFilter(QObject* object, QEvent* event) {
  if (object == parentWidget()) {
    if (event->type() == QEvent::Resize && isVisible()) place();
    return false;
  }
  if (event->type() == QEvent::FocusOut && isVisible()) {
    hide();
    return false;
  }
  if (event->type() != QEvent::KeyPress) return false;
  const int row = list_->indexOfTopLevelItem(list_->currentItem()), last = list_->topLevelItemCount() - 1;
  const auto select = [this](int index) { list_->setCurrentItem(list_->topLevelItem(index)); };
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Escape:
      leave();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      runSelected();
      return true;
    case Qt::Key_Down:
      select(std::min(row + 1, last));
      return true;
    case Qt::Key_Up:
      select(std::max(row - 1, 0));
      return true;
    default:
      return false;
  }
}

}  // namespace mambarium
