#include "ui/notice_area.h"

#include <QAccessible>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace mambarium {

namespace {

constexpr int lines_of_details = 4;

QString lastLines(const QString& text) {
  const QStringList lines = text.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  return lines.mid(std::max<qsizetype>(0, lines.size() - lines_of_details)).join(QLatin1Char('\n'));
}

QLabel* makeText(const QString& text, const char* role) {
  auto* const label = new QLabel(text);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label->setProperty("role", QLatin1String(role));
  return label;
}

}  // namespace

NoticeBar::NoticeBar(const Notice& notice, QWidget* parent) : QFrame(parent), notice_(notice) {
  setObjectName(QStringLiteral("notice"));
  setProperty("role", QStringLiteral("panel"));
  setAccessibleName(tr("Notice"));
  setAccessibleDescription(text());
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(16, 12, 16, 12);
  column->setSpacing(4);
  column->addWidget(makeText(notice.message, "title"));
  if (!notice.hint.isEmpty()) column->addWidget(makeText(notice.hint, ""));
  if (!notice.details.isEmpty()) {
    QLabel* const details = makeText(lastLines(notice.details), "hint");
    details->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    details->setToolTip(notice.details);
    details->setAccessibleName(tr("Last words of the worker"));
    column->addWidget(details);
  }
  auto* const buttons = new QHBoxLayout;
  buttons->setContentsMargins(0, 4, 0, 0);
  buttons->setSpacing(8);
  const auto addButton = [&](const NoticeAction& action) {
    auto* const button = new QPushButton(action.text);
    button->setFocusPolicy(Qt::TabFocus);
    connect(button, &QPushButton::clicked, this, [this, run = action.run] {
      if (run) run();
      leave();
    });
    buttons->addWidget(button);
  };
  for (const NoticeAction& action : notice.actions) addButton(action);
  addButton({tr("Close"), {}});
  buttons->addStretch(1);
  column->addLayout(buttons);
}

QString NoticeBar::text() const {
  return notice_.hint.isEmpty() ? notice_.message : notice_.message + QLatin1Char(' ') + notice_.hint;
}

void NoticeBar::leave() {
  hide();
  setParent(nullptr);
  deleteLater();
}

NoticeArea::NoticeArea(QWidget* parent) : QWidget(parent), column_(new QVBoxLayout(this)) {
  column_->setContentsMargins(0, 0, 0, 0);
  column_->setSpacing(8);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
}

void NoticeArea::add(const Notice& notice) {
  const std::vector<NoticeBar*> shown = bars();
  for (NoticeBar* const bar : shown) {
    if (bar->notice().message == notice.message && bar->notice().hint == notice.hint) bar->leave();
  }
  const std::vector<NoticeBar*> left = bars();
  if (static_cast<int>(left.size()) >= most_notices) left.front()->leave();

  auto* const bar = new NoticeBar(notice, this);
  column_->addWidget(bar);
  bar->show();  // the layout would, but only when the event loop comes round
  if (notice.about) connect(notice.about, &QObject::destroyed, bar, &NoticeBar::leave);
  QAccessibleEvent alert(bar, QAccessible::Alert);
  QAccessible::updateAccessibility(&alert);
}

void NoticeArea::removeAbout(const QObject* about) {
  for (NoticeBar* const bar : bars()) {
    if (bar->notice().about == about) bar->leave();
  }
}

std::vector<NoticeBar*> NoticeArea::bars() const {
  std::vector<NoticeBar*> all;
  for (int index = 0; index < column_->count(); ++index) {
    if (auto* const bar = qobject_cast<NoticeBar*>(column_->itemAt(index)->widget())) all.push_back(bar);
  }
  return all;
}

}  // namespace mambarium
