#include "ui/hint_bubble.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <algorithm>

namespace mambarium {

namespace {

constexpr int bubble_width = 360;
constexpr int pointer = 9;

}  // namespace

HintBubble::HintBubble(const QString& text, QWidget* target, const Theme& theme)
    : QFrame(target->window()), target_(target), theme_(theme) {
  setObjectName(QStringLiteral("first-hint"));
  setAccessibleName(tr("Hint"));
  setAccessibleDescription(text);
  auto* const words = new QLabel(text);
  words->setWordWrap(true);
  words->setStyleSheet(QStringLiteral("color: %1").arg(theme.text().name()));
  auto* const button = new QPushButton(tr("Got it"));
  button->setObjectName(QStringLiteral("got-it"));
  button->setFocusPolicy(Qt::TabFocus);
  connect(button, &QPushButton::clicked, this, &HintBubble::leave);
  auto* const row = new QHBoxLayout(this);
  row->setContentsMargins(16, 12, 12, 12 + pointer);
  row->setSpacing(12);
  row->addWidget(words, 1);
  row->addWidget(button, 0, Qt::AlignBottom);
  setFixedWidth(theme.px(bubble_width));
  target->window()->installEventFilter(this);
  place();
  show();
  raise();
}

void HintBubble::place() {
  setFixedHeight(layout()->heightForWidth(QFrame::width()));
  const QWidget* const window = target_->window();
  const QPoint middle = target_->mapTo(window, QPoint(target_->width() / 2, 0));
  const int left = std::clamp(middle.x() - theme_.px(40), 8, std::max(8, window->width() - QFrame::width() - 8));
  move(left, middle.y() - height() - 4);
}

void HintBubble::leave() {
  if (isHidden()) return;
  hide();
  Q_EMIT dismissed();
  deleteLater();
}

void HintBubble::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  QPainterPath bubble;
  bubble.addRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1 - pointer), 8, 8);
  const double tip = target_->mapTo(window(), QPoint(target_->width() / 2, 0)).x() - x();
  QPainterPath arrow;
  const double bottom = height() - pointer - 1.5;
  arrow.addPolygon(QPolygonF({{tip - pointer, bottom}, {tip, height() - 1.5}, {tip + pointer, bottom}}));
  arrow.closeSubpath();
  painter.setPen(QPen(theme_.accent(), 1.5));
  painter.setBrush(theme_.panel());
  painter.drawPath(bubble.united(arrow));
}

void HintBubble::mousePressEvent(QMouseEvent*) {
  leave();
}

bool HintBubble::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) {
    QMetaObject::invokeMethod(this, &HintBubble::place, Qt::QueuedConnection);
  }
  return false;
}

}  // namespace mambarium
